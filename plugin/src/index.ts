// The plugin's entry. omp runs this factory for Main and again for every subagent, and once with no session at all when
// it validates the plugin: so it only registers.

import { agentEnded, agentLeft, agentLives, agentStarted } from "./agents.ts";
import { commandCheck } from "./bash.ts";
import type { Context, Events, Pi } from "./omp.ts";
import { mainEnded, mainStarted, mainSwitched, mainTurns } from "./session.ts";
import { registerSlash } from "./slash.ts";
import { spawnCheck } from "./spawn.ts";
import { isDouble, shared } from "./state.ts";
import { expectedTools, registerTools } from "./tools.ts";

export default function ompCoord(pi: Pi): void {
	const s = shared();
	if (s.tools.length === 0) s.tools = expectedTools();
	registerSlash(pi);
	registerTools(s, pi);

	/** `ofMain` and `ofSub`: what is done in Main's session, and in a subagent's. */
	function on<E extends keyof Events>(event: E, ofMain: Handler<E> | null, ofSub: Handler<E> | null): void {
		pi.on(event, (what, ctx) => {
			const handler = ctx.agent.kind === "main" ? ofMain : ofSub;
			return isDouble(s, pi, ctx) ? undefined : handler?.(what, ctx);
		});
	}

	on("session_start", (_, ctx) => mainStarted(pi, ctx), (_, ctx) => agentLives(pi, ctx));
	on("session_switch", (event, ctx) => mainSwitched(pi, ctx, event.reason ?? ""), null);
	on("session_branch", (_, ctx) => mainSwitched(pi, ctx, "branch"), null);
	on("session_shutdown", () => mainEnded(pi), (_, ctx) => agentLeft(pi, ctx));
	on("turn_start", (_, ctx) => mainTurns(pi, ctx), null);
	on("agent_start", null, (_, ctx) => agentStarted(pi, ctx));
	on("agent_end", null, (event, ctx) => agentEnded(pi, event, ctx));
	on("before_subagent_spawn", spawnCheck, spawnCheck);
	on("tool_call", commandCheck, commandCheck);
}

type Handler<E extends keyof Events> = (event: Events[E][0], ctx: Context) => Events[E][1] | Promise<Events[E][1]> | undefined;
