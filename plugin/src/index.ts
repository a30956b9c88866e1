// The plugin's entry. omp runs this factory for Main and again for every subagent, and once with no session at all when
// it validates the plugin: so it only registers. A handler that throws would be reported by omp as a fault of the plugin,
// or block what it is about; each keeps its own faults to itself where that matters.

import { agentEnded, agentLeft, agentLives, agentStarted } from "./agents.ts";
import { commandCheck } from "./bash.ts";
import type { Pi } from "./omp.ts";
import { mainEnded, mainStarted, mainSwitched } from "./session.ts";
import { registerSlash } from "./slash.ts";
import { spawnCheck } from "./spawn.ts";
import { shared } from "./state.ts";
import { registerTools } from "./tools.ts";

export default function ompCoord(pi: Pi): void {
	registerSlash(pi);
	registerTools(shared(), pi);
	pi.on("session_start", (_, ctx) => (ctx.agent.kind === "main" ? mainStarted(pi, ctx) : agentLives(pi, ctx)));
	pi.on("session_switch", (event, ctx) => {
		if (ctx.agent.kind === "main") mainSwitched(pi, ctx, event.reason ?? "");
	});
	pi.on("session_branch", (_, ctx) => {
		if (ctx.agent.kind === "main") mainSwitched(pi, ctx, "branch");
	});
	pi.on("session_shutdown", (_, ctx) => (ctx.agent.kind === "main" ? mainEnded(pi) : agentLeft(pi, ctx)));
	pi.on("agent_start", (_, ctx) => agentStarted(pi, ctx));
	pi.on("agent_end", (event, ctx) => agentEnded(event, ctx));
	pi.on("before_subagent_spawn", (event, ctx) => spawnCheck(event, ctx));
	pi.on("tool_call", (event, ctx) => commandCheck(event, ctx));
}
