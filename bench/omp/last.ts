// Behind the plugin: writes how long omp was held up by what stands between, in milliseconds, to the file BENCH_TIMES.
import { appendFileSync } from "node:fs";
import type { ExtensionAPI } from "@oh-my-pi/pi-coding-agent";

export default function last(pi: ExtensionAPI): void {
	const begun = ((globalThis as Record<string, unknown>).benchBegun ??= {}) as Record<string, number>;
	const note = (what: string) => {
		const took = performance.now() - (begun[what] ?? Number.NaN);
		appendFileSync(String(process.env.BENCH_TIMES), `${what} ${took.toFixed(4)}\n`);
	};
	pi.on("before_subagent_spawn", () => note("spawn"));
	pi.on("tool_call", event => note(event.toolName));
}
