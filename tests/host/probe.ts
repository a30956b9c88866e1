// What a test asks omp itself: /probe shows how many subagents omp lets run, and at the end of the session it is written to
// the file that PROBE_END names.
import { appendFileSync } from "node:fs";
import type { ExtensionAPI } from "@oh-my-pi/pi-coding-agent";
import { lookup } from "@oh-my-pi/pi-coding-agent/config/registry";

export default function probe(pi: ExtensionAPI): void {
	const places = () => String(lookup("task.maxConcurrency")?.get(pi.pi.settings));
	pi.registerCommand("probe", {
		description: "how many subagents omp lets run",
		handler: async (_args, ctx) => ctx.ui.notify(`places ${places()}`, "info"),
	});
	pi.on("session_shutdown", async (_event, ctx) => {
		if (ctx.agent.kind === "main" && process.env.PROBE_END) appendFileSync(process.env.PROBE_END, `places ${places()}\n`);
	});
}
