// The agents' tools, as the bridge lists them: a later tool needs no change here.

import { ask } from "./bridge.ts";
import type { Context, Pi, ToolAnswer } from "./omp.ts";
import type { Tool } from "./protocol.ts";
import { type Shared, shared } from "./state.ts";
import { MISSING, NO_ANSWER } from "./texts.ts";

/** What there is while no bridge can be asked. */
export const ALONE: Tool[] = [
	{ name: "coord_status", description: MISSING, schema: { type: "object", properties: {}, additionalProperties: false } },
];

/** Gives an instance the tools that it does not have yet. */
export function registerTools(s: Shared, pi: Pi): void {
	const known = s.registered.get(pi) ?? new Set();
	s.registered.set(pi, known);
	for (const tool of s.tools) {
		if (!known.has(tool.name)) pi.registerTool(definition(tool));
		known.add(tool.name);
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
		const result = await ask(connection => connection.request("tool.call", { agent: ctx.agent.id, name, args }));
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
