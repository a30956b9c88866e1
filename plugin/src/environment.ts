// The variables that a session gives to what its agents start; they are set in omp's own process, which all agents share.

import type { Shared } from "./state.ts";

export function setEnvironment(s: Shared, env: Record<string, string>): void {
	clearEnvironment(s);
	Object.assign(process.env, env);
	s.env = Object.keys(env);
}

export function clearEnvironment(s: Shared): void {
	for (const name of s.env) delete process.env[name];
	s.env = [];
}

/** This process's environment as it was before a session: a bridge belongs to none. */
export function plainEnvironment(s: Shared): Record<string, string | undefined> {
	const env: Record<string, string | undefined> = { ...process.env };
	for (const name of s.env) delete env[name];
	return env;
}
