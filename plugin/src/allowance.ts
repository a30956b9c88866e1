// omp's own spawn queue: its setting `task.maxConcurrency` is overridden with the number that the bridge allows, for this
// run of omp only. omp reads it when a spawn is asked for and when a run ends.

import { whenAnswered } from "./client.ts";
import type { Setting } from "./omp.ts";
import type { Shared } from "./state.ts";

/** Layers that are the user's own. In RPC mode omp itself pins the default as `runtime`. */
const USERS = ["project", "global", "env", "overlay"];

/** An omp that has no such setting keeps its queue as it is. */
export async function findSetting(s: Shared): Promise<void> {
	if (s.setting !== undefined) return;
	try {
		// A literal name: omp serves its own module; anything computed bun would try to install.
		const registry = await import("@oh-my-pi/pi-coding-agent/config/registry");
		s.setting = registry.lookup("task.maxConcurrency") ?? null;
	} catch {
		s.setting = null;
	}
}

/** null clears. Only a change is written. */
export function setAllowance(s: Shared, allowance: number | null): void {
	s.queue.wanted = allowance;
	if (!s.setting || s.main === null) return;
	try {
		if (allowance === null) clear(s, s.setting, s.main.pi.pi.settings);
		else write(s, s.setting, s.main.pi.pi.settings, allowance);
	} catch (error) {
		cannotSize(s, String(error));
	}
}

/** The bridge says so, and sends no more numbers. */
export function cannotSize(s: Shared, reason: string): void {
	if (s.queue.reported || s.opened === null) return;
	s.queue.reported = true;
	whenAnswered(s.connection?.request("spawnQueue.unsized", { reason }));
}

/** The next session reads the user's own value anew. */
export function forgetCeiling(s: Shared): void {
	s.queue.ceiling = undefined;
	s.queue.reported = false;
}

function write(s: Shared, found: Setting, settings: object, allowance: number): void {
	if (s.queue.limit === null) s.queue.before = runtime(found, settings);
	if (s.queue.ceiling === undefined) s.queue.ceiling = ceiling(found, settings);
	const wanted = Math.max(1, Math.trunc(allowance)); // omp takes 0 for unlimited
	const limit = s.queue.ceiling === null ? wanted : Math.min(wanted, s.queue.ceiling);
	if (limit === s.queue.limit) return;
	found.override(settings, limit);
	s.queue.limit = limit;
}

function clear(s: Shared, found: Setting, settings: object): void {
	const { limit, before } = s.queue;
	if (limit === null) return;
	s.queue.limit = null;
	if (runtime(found, settings) !== limit) return; // somebody else has set it since
	if (before === null || before === found.default) found.clearOverride(settings);
	else found.override(settings, before);
}

/** A runtime override that is there. */
function runtime(found: Setting, settings: object): number | null {
	const value = found.get(settings);
	return found.provenance(settings) === "runtime" && typeof value === "number" ? value : null;
}

function ceiling(found: Setting, settings: object): number | null {
	const value = found.get(settings);
	const own = USERS.includes(found.provenance(settings));
	return own && typeof value === "number" && value > 0 ? Math.max(1, Math.trunc(value)) : null;
}
