// The agents' tools. Those that are expected are registered by the factory, before omp makes its system prompt: for each one
// that comes later omp makes it anew, 20 ms each. What the bridge lists besides, or otherwise, comes when it says so: a later tool
// needs no change here.

import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { ask } from "./bridge.ts";
import { CONFIG_FILE, TOOLS } from "./offered.ts";
import type { Context, Pi, ToolAnswer } from "./omp.ts";
import type { Tool } from "./nouns.ts";
import { type Shared, shared } from "./state.ts";
import { MISSING, NO_ANSWER } from "./texts.ts";

/** The board is shown by a process of its own, which a busy machine may keep waiting. A bridge that stands still keeps no agent for
 * ever. (Tests change it.) */
export const answers = { ms: 60_000 };

/** What the bridge will probably list: whether a file is valid, and may be believed, is for the bridge to say. */
export function expectedTools(): Tool[] {
	const likely = process.env["OMP_COORD"] !== "off" && foldersAbove().some(folder => existsSync(join(folder, CONFIG_FILE)));
	return likely ? TOOLS : TOOLS.slice(0, 1);
}

/** Up to the home folder: there the bridge's own search ends. */
function foldersAbove(): string[] {
	try {
		const folders = [process.cwd()];
		const borders = ["/", homeFolder()];
		while (!borders.includes(folders[0]!)) folders.unshift(dirname(folders[0]!));
		return folders;
	} catch {
		return []; // the working folder was removed
	}
}

function homeFolder(): string {
	const home = process.env["HOME"] || "/";
	try {
		return realpathSync(home);
	} catch {
		return home; // there is none
	}
}

/** Gives an instance the tools that it does not have yet, or has otherwise. */
export function registerTools(s: Shared, pi: Pi): void {
	const known = s.registered.get(pi) ?? new Set();
	s.registered.set(pi, known);
	for (const tool of s.tools) {
		const shape = JSON.stringify([tool.name, tool.description, tool.schema]);
		if (!known.has(shape)) pi.registerTool(definition(tool));
		known.add(shape);
	}
}

function definition(tool: Tool): Parameters<Pi["registerTool"]>[0] {
	return {
		name: tool.name,
		label: tool.name,
		description: tool.description,
		parameters: tool.schema,
		loadMode: "essential",
		approval: "read",
		execute: (_id, args, _signal, _update, ctx) => call(tool.name, args, ctx),
	};
}

async function call(name: string, args: Record<string, unknown>, ctx: Context): Promise<ToolAnswer> {
	try {
		const result = await ask(connection => connection.request("tool.call", { agent: ctx.agent.id, name, args }, answers.ms));
		return result === null ? said(noBridge(), true) : said(result.text, result.isError);
	} catch {
		return said(NO_ANSWER, true);
	}
}

/** What is said when nobody can be asked. */
export function noBridge(): string {
	return shared().apart === "missing" ? MISSING : NO_ANSWER;
}

function said(text: string, isError: boolean): ToolAnswer {
	return { content: [{ type: "text", text }], ...(isError ? { isError } : {}) };
}
