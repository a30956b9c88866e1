// The second witness: omp's registry of agents. The board is held against it every 10 s, and at once when an agent began
// or stopped running with no event to tell of it.

import { parentOf, told } from "./agents.ts";
import { setAllowance } from "./allowance.ts";
import { whenAnswered } from "./client.ts";
import type { Ref, Registry } from "./omp.ts";
import type { Agent } from "./nouns.ts";
import type { Running, Shared } from "./state.ts";

const EVERY_MS = 10_000;
/** An event that explains a change comes within this time. */
const SETTLE_MS = 150;
/** omp's registry has a `/tan` clone under this name; its own instance, which may come later, says `sub`. */
const NAMES: Record<string, string> = { tan: "sub" };
/** An agent has ended that is absent from two lists in a row. */
const CONFIRM_MS = 600;

/** An omp that has no such registry is believed by its events alone. */
export async function findRegistry(s: Shared): Promise<void> {
	if (s.registry !== undefined) return;
	try {
		const module = await import("@oh-my-pi/pi-coding-agent/registry/agent-registry");
		s.registry = module.AgentRegistry.global();
	} catch {
		s.registry = null;
	}
}

/** Begins to watch; returns how to stop. */
export function watchAgents(s: Shared): () => void {
	let timer: ReturnType<typeof setTimeout> | undefined;
	let changed = false;
	const later = (ms: number, then: () => void) => {
		timer = setTimeout(() => {
			timer = undefined;
			then();
			if (changed) look();
		}, ms);
		timer.unref?.();
	};
	const compare = () => {
		changed = false;
		if (!differs(s)) return;
		sync(s);
		later(CONFIRM_MS, () => sync(s));
	};
	const look = () => timer ?? later(SETTLE_MS, compare);
	const every = setInterval(() => sync(s), EVERY_MS);
	every.unref?.();
	const ignore = s.registry?.onChange(() => {
		changed = true;
		look();
	});
	return () => {
		clearInterval(every);
		clearTimeout(timer);
		ignore?.();
	};
}

/** What runs now; what `running` did not know is taken up in it, what has ended leaves it. */
export function runningNow(s: Shared): Agent[] {
	if (s.registry) hold(s, running(s.registry));
	return [...s.running.values()].filter(entry => entry.missed === 0).map(told);
}

/** The agents that run on into the next session of this omp: they are its own from now on. */
export function handOver(s: Shared, session: string): void {
	const live = new Set(s.registry ? running(s.registry).map(ref => ref.id) : []);
	for (const [id, entry] of s.running) {
		if (live.has(id)) entry.session = session;
		else s.running.delete(id);
	}
}

export function sync(s: Shared): void {
	if (s.connection === null || s.opened === null) return;
	const asked = s.connection.request("agents.sync", { agents: runningNow(s) });
	whenAnswered(asked, result => setAllowance(s, result.allowance));
}

function hold(s: Shared, refs: Ref[]): void {
	const here = new Set(refs.map(ref => ref.id));
	for (const ref of refs) if (!s.running.has(ref.id)) s.running.set(ref.id, unheard(s, ref));
	for (const [id, entry] of s.running) {
		entry.missed = here.has(id) ? 0 : entry.missed + 1;
		if (entry.missed > 1) s.running.delete(id);
	}
}

function unheard(s: Shared, ref: Ref): Running {
	const pi = s.live.get(ref.id)?.pi ?? null;
	const type = s.live.get(ref.id)?.ctx.agent.name ?? NAMES[ref.displayName] ?? ref.displayName;
	const session = s.main?.sessionId ?? "";
	return { id: ref.id, type, parent: parentOf(ref.parentId), since: Date.now(), session, pi, missed: 0 };
}

function differs(s: Shared): boolean {
	const live = new Set(s.registry ? running(s.registry).map(ref => ref.id) : []);
	return live.size !== s.running.size || [...s.running.keys()].some(id => !live.has(id));
}

/** Subagents whose session is streaming; an advisor is none. */
function running(from: Registry): Ref[] {
	return from.list().filter(ref => ref.kind === "sub" && from.isRunning(ref));
}
