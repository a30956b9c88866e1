// Modules of omp that it serves to extensions at run time; imported by literal names, in a try.

declare module "@oh-my-pi/pi-coding-agent/registry/agent-registry" {
	export const AgentRegistry: { global(): import("./omp.ts").Registry };
}

declare module "@oh-my-pi/pi-coding-agent/registry/agent-lifecycle" {
	export const AgentLifecycleManager: { global(): import("./omp.ts").Lifecycle };
}

declare module "@oh-my-pi/pi-coding-agent/config/registry" {
	export function lookup(id: string): import("./omp.ts").Setting | undefined;
}
