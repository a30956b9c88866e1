// Made from coord/bridge/tools.py by `python -m coord.bridge.typescript`; changed there, not here.

import type { Tool } from "./nouns.ts";

export const CONFIG_FILE = ".omp-coord.json";

/** The first is there in every session. */
export const TOOLS: Tool[] = [
	{
		"name": "coord_status",
		"description": "Shows the shared board of this project: sessions, who holds which agent slots, queues, pauses.",
		"schema": {
			"type": "object",
			"properties": {},
			"additionalProperties": false
		}
	},
	{
		"name": "coord_pause",
		"description": "Pauses the project for all sessions: no new agents and no new queued jobs. What runs, runs on.",
		"schema": {
			"type": "object",
			"properties": {
				"reason": {
					"type": "string",
					"description": "Why, in a few words; every session is told.",
					"maxLength": 200
				}
			},
			"additionalProperties": false
		}
	},
	{
		"name": "coord_resume",
		"description": "Lifts the pause of the project.",
		"schema": {
			"type": "object",
			"properties": {},
			"additionalProperties": false
		}
	}
];
