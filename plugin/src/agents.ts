// Which agents run. omp does not wait for these handlers, and its next queued spawn asks within milliseconds of an end,
// so the line is written first thing. Ends and starts that omp makes of one life (reminders, messages) are bridged by the
// board; a retry (`willContinue`) is no end at all.

import { setAllowance } from "./allowance.ts";
import { whenAnswered } from "./client.ts";
import type { Context, EndEvent, Pi } from "./omp.ts";
import type { Agent, Parent } from "./nouns.ts";
import { type Instance, type Running, shared } from "./state.ts";
import { notify } from "./ui.ts";

export function agentStarted(pi: Pi, ctx: Context): void {
	const s = shared();
	const { id, name, parentId } = ctx.agent;
	const session = s.main?.sessionId ?? "";
	const entry: Running = { id, type: name, parent: parentOf(parentId), since: Date.now(), session, pi, missed: 0 };
	const asked = s.connection?.request("agent.started", { session, id, parent: entry.parent, type: name });
	s.running.set(id, entry);
	s.live.set(id, { pi, ctx });
	// What is not answered is made up for by the list of what runs.
	whenAnswered(asked, result => {
		setAllowance(s, result.allowance);
		if (result.warning) notify(s, [{ level: "warning", text: result.warning }]);
	});
}

export function agentEnded(pi: Pi, event: EndEvent, ctx: Context): void {
	if (event.willContinue !== true) ended(pi, ctx.agent.id);
}

/** The session of a subagent ends: it was killed, parked, or is not needed any more. */
export function agentLeft(pi: Pi, ctx: Context): void {
	const s = shared();
	if (s.live.get(ctx.agent.id)?.pi === pi) s.live.delete(ctx.agent.id);
	ended(pi, ctx.agent.id);
}

export function agentLives(pi: Pi, ctx: Context): void {
	shared().live.set(ctx.agent.id, { pi, ctx } satisfies Instance);
}

/** Only the instance that runs under this id ends: an earlier life's end, or one of an earlier conversation, may come late. */
function ended(pi: Pi, id: string): void {
	const s = shared();
	const entry = s.running.get(id);
	if (entry === undefined || (entry.pi ?? pi) !== pi) return;
	const { session } = entry;
	const asked = s.connection?.request("agent.ended", { session, id });
	s.running.delete(id);
	whenAnswered(asked, result => session === s.main?.sessionId && setAllowance(s, result.allowance));
}

/** Agents without a parent of their own are Main's: `/tan` clones of an older omp. */
export function parentOf(parentId: string | undefined): Parent {
	const main = shared().main?.ctx.agent.id ?? "Main";
	return parentId === undefined || parentId === main ? { id: main, kind: "main" } : { id: parentId, kind: "sub" };
}

/** As the bridge is told of it. */
export function told({ id, type, parent, since }: Running): Agent {
	return { id, type, parent, since: since ?? null };
}
