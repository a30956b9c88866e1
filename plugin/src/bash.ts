// An agent's bash command, before it runs: refused, or rewritten, or as it is. omp blocks the tool when this throws or
// takes long, and other calls of the same message wait for it: so nothing here throws, and a bridge that is slow, gone or
// older than the rules lets the command run.

import { connected } from "./bridge.ts";
import type { Context, ToolCallAnswer, ToolCallEvent } from "./omp.ts";
import type { CommandResult } from "./protocol.ts";
import { shared } from "./state.ts";

/** Tests of anything else than this wait longer: a machine may stand still for a moment. */
export const patience = { ms: 1_000 };

export async function commandCheck(event: ToolCallEvent, ctx: Context): Promise<ToolCallAnswer | undefined> {
	try {
		if (event.toolName !== "bash" || typeof event.input["command"] !== "string") return undefined;
		return await checked(event, event.input["command"], ctx);
	} catch {
		return undefined;
	}
}

async function checked(event: ToolCallEvent, command: string, ctx: Context): Promise<ToolCallAnswer | undefined> {
	const connection = connected(shared());
	if (connection === null) return undefined;
	const end = Date.now() + patience.ms;
	if (connection.state === "opening") await connection.settled(patience.ms);
	if (connection.state !== "open") return undefined;
	const { id: agent, kind } = ctx.agent;
	const cwd = typeof event.input["cwd"] === "string" ? event.input["cwd"] : ctx.cwd;
	const asked = { agent, kind, tool: event.toolName, command, cwd };
	return answer(await connection.request("command.check", asked, Math.max(1, end - Date.now())), event, command);
}

function answer(found: CommandResult, event: ToolCallEvent, command: string): ToolCallAnswer | undefined {
	const context = found.context ? { additionalContext: found.context } : {};
	if (found.action === "refuse") return { block: true, reason: found.reason ?? "", ...context };
	if (found.command !== undefined && found.command !== command)
		return { input: { ...event.input, command: found.command }, ...context };
	return found.context ? context : undefined;
}
