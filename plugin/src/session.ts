// The session of this omp: opened soon after Main's start, closed and opened anew when Main's conversation becomes another one,
// left at its end.

import { connect, connected, isDue, leave } from "./bridge.ts";
import type { Context, Pi } from "./omp.ts";
import type { CloseReason } from "./nouns.ts";
import { handOver } from "./roster.ts";
import { type MainSession, type Shared, shared } from "./state.ts";
import { registerTools } from "./tools.ts";

/** A bridge's own start takes a processor for 80 ms. It begins when omp's first prompt is out, or when omp has had so long a rest;
 * who has a question for it before starts it (`connected`). */
const QUIET_MS = 150;

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

/** The first prompt is on its way when omp has time again. omp tells of no `/move` to another folder: that is seen here. */
export function mainTurns(pi: Pi, ctx: Context): void {
	const s = shared();
	if (s.main !== null && s.main.cwd !== ctx.cwd) change(s, sessionOf(pi, ctx), null);
	else if (isDue(s)) after(s, 0, () => connected(s));
}

function begin(s: Shared, next: MainSession): void {
	s.main = next;
	after(s, 0, () => after(s, QUIET_MS, () => connected(s)));
}

function after(s: Shared, ms: number, then: () => void): void {
	const timer = setTimeout(then, ms);
	timer.unref?.();
	s.stops.push(() => clearTimeout(timer));
}

/** `reason` null: the session is not closed first, so that it keeps its letter and its place in line where the board is the same. */
function change(s: Shared, next: MainSession, reason: CloseReason | null): void {
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
