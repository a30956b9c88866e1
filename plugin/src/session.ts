// The session of this omp: opened with Main's start, closed and opened anew when Main's conversation becomes another one,
// left at its end.

import { connect, leave } from "./bridge.ts";
import type { Context, Pi } from "./omp.ts";
import type { CloseReason } from "./protocol.ts";
import { handOver } from "./roster.ts";
import { type MainSession, type Shared, shared } from "./state.ts";
import { registerTools } from "./tools.ts";

/** omp says `resume` for another transcript, and `fork` for a copy of this one. */
const REASONS: Record<string, CloseReason> = { new: "new", resume: "switch", fork: "branch", branch: "branch" };

export function mainStarted(pi: Pi, ctx: Context): void {
	const s = shared();
	const next = sessionOf(pi, ctx);
	registerTools(s, pi);
	if (s.main === null) begin(s, next);
	else change(s, next, "switch");
}

export function mainSwitched(pi: Pi, ctx: Context, reason: string): void {
	change(shared(), sessionOf(pi, ctx), REASONS[reason] ?? "switch");
}

export async function mainEnded(pi: Pi): Promise<void> {
	const s = shared();
	if (s.main?.pi !== pi) return; // another instance has taken the session over
	const connection = s.connection;
	leave(s);
	s.main = s.connection = s.apart = null;
	s.running.clear();
	s.told.clear();
	await connection?.close("exit");
}

function begin(s: Shared, next: MainSession): void {
	s.main = next;
	connect(s);
}

function change(s: Shared, next: MainSession, reason: CloseReason): void {
	const before = s.main;
	const same = before?.sessionId === next.sessionId && before.cwd === next.cwd;
	if (!same) {
		leave(s); // while Main is still the one that it was set for
		handOver(s, next.sessionId);
	}
	s.main = next;
	if (same) return; // the same conversation was loaded anew
	if (s.connection === null) connect(s);
	else s.connection.next(reason);
}

function sessionOf(pi: Pi, ctx: Context): MainSession {
	return { pi, ctx, sessionId: ctx.sessionManager.getSessionId(), cwd: ctx.cwd };
}
