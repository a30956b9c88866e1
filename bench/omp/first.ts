// Before the plugin: notes when omp asks its extensions.
import type { ExtensionAPI } from "@oh-my-pi/pi-coding-agent";

export default function first(pi: ExtensionAPI): void {
	const begun = ((globalThis as Record<string, unknown>).benchBegun ??= {}) as Record<string, number>;
	pi.on("before_subagent_spawn", () => void (begun.spawn = performance.now()));
	pi.on("tool_call", event => void (begun[event.toolName] = performance.now()));
}
