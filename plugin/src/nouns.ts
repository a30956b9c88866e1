// Made from coord/bridge/nouns.py by `python -m coord.bridge.typescript`; changed there, not here.

export type Level = "info" | "warning" | "error";

export type InactiveCode = "noConfig" | "badConfig" | "noServer" | "off" | "upgrade";

export type CloseReason = "exit" | "new" | "switch" | "branch" | "signal";

export type Cause = "full" | "held" | "paused" | "load" | "policy" | "settling" | "nestedType" | "nestedFull";

/** `plugin`: the version of the plugin that speaks. */
export interface Host {
	name?: string | null;
	version?: string | null;
	plugin?: string | null;
}

/** `kind`: main or sub; another word counts as main, so that it is never exempt. */
export interface Parent {
	id: string;
	kind: string;
}

/** An agent that runs; `since` in milliseconds. */
export interface Agent {
	id: string;
	type: string;
	parent: Parent;
	since?: number | null;
}

export interface Notice {
	level: Level;
	text: string;
}

/** `schema`: JSON Schema of the tool's arguments. */
export interface Tool {
	name: string;
	description: string;
	schema: Record<string, unknown>;
}

/** A word behind `/coord`. */
export interface Command {
	name: string;
	description: string;
}

/** `drive`: whether the host's own spawn queue is kept at `allowance` now; `note` says so, or why not. */
export interface SpawnQueue {
	drive: boolean;
	allowance: number | null;
	note: string;
}
