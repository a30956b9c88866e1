// May this agent start? Asked of the bridge, which answers at once. Whatever goes wrong, it may: the caps are an
// agreement, and omp lets a spawn go on whose check throws or takes 30 s.

import { setAllowance } from "./allowance.ts";
import { connected, outageOver, tellOutage } from "./bridge.ts";
import type { Context, SpawnAnswer, SpawnEvent } from "./omp.ts";
import type { SpawnRequest } from "./protocol.ts";
import { shared } from "./state.ts";

const OPEN_MS = 5_000;
const ANSWER_MS = 15_000;

export async function spawnCheck(event: SpawnEvent, ctx: Context): Promise<SpawnAnswer | undefined> {
	const s = shared();
	try {
		const connection = connected(s);
		if (connection === null) return undefined;
		if (connection.state === "opening") await connection.settled(OPEN_MS);
		if (connection.state === "over") return undefined; // it is missing, or the session is not on the board
		if (connection.state !== "open") throw new Error("the bridge is not there");
		const result = await connection.request("spawn.request", asked(event, ctx), ANSWER_MS);
		if (result.coordinated) outageOver(s);
		setAllowance(s, result.allowance);
		return result.allowed ? undefined : { block: true, reason: result.reason ?? "" };
	} catch {
		tellOutage(s);
		return undefined;
	}
}

function asked(event: SpawnEvent, ctx: Context): SpawnRequest {
	const { id, kind } = ctx.agent;
	const key = idIn(event.spawnKey);
	return { parent: { id, kind }, type: event.agent, invocation: event.invocationKind, ...(key ? { key } : {}) };
}

/** The child's id. omp gives `<tool call>:<index>` where it has none yet, and no id has a colon. */
function idIn(key: string | undefined): string | undefined {
	return key?.includes(":") ? undefined : key;
}
