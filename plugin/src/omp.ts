// What the plugin uses of omp, no more. Read in omp 18.3.4, src/extensibility/extensions/types.ts and shared-events.ts;
// an optional part is one that an older omp does not have.

import type { Level } from "./nouns.ts";

/** `kind` tells Main and subagents apart; `depth` does not: `/tan` clones have depth 0. */
export interface Identity {
	kind: "main" | "sub";
	id: string;
	name: string;
	parentId?: string;
}

export interface Ui {
	notify(text: string, level?: Level): void;
	setStatus(key: string, text: string | undefined): void;
}

export interface Context {
	ui: Ui;
	hasUI: boolean;
	cwd: string;
	agent: Identity;
	isIdle(): boolean;
	sessionManager: { getSessionId(): string; getEntries(): readonly unknown[] };
}

export interface SpawnEvent {
	agent: string;
	invocationKind: string;
	spawnKey?: string;
}

export interface SpawnAnswer {
	block: true;
	reason: string;
}

/** `willContinue`: omp goes on by itself (a retry); the agent has not ended. */
export interface EndEvent {
	willContinue?: boolean;
}

export interface SwitchEvent {
	reason?: string;
}

export interface ToolCallEvent {
	toolName: string;
	input: Record<string, unknown>;
}

export interface ToolCallAnswer {
	block?: boolean;
	reason?: string;
	input?: Record<string, unknown>;
	additionalContext?: string;
}

export interface ToolAnswer {
	content: { type: "text"; text: string }[];
	isError?: boolean;
}

export interface ToolDefinition {
	name: string;
	label: string;
	description: string;
	parameters: Record<string, unknown>;
	loadMode: "essential";
	approval: "read";
	execute(id: string, args: Record<string, unknown>, signal: unknown, onUpdate: unknown, ctx: Context): Promise<ToolAnswer>;
}

export interface Completion {
	value: string;
	label: string;
	description?: string;
}

/** omp awaits completions, though their declared type does not say so. */
export interface SlashCommand {
	description: string;
	getArgumentCompletions(prefix: string): Promise<Completion[] | null>;
	handler(args: string, ctx: Context): Promise<void>;
}

export interface CustomMessage {
	customType: string;
	content: string;
	display: boolean;
	attribution: "agent";
	details: { id: string; from: string };
}

export interface SendOptions {
	triggerTurn: boolean;
	deliverAs: "aside" | "nextTurn";
}

/** The handlers, by event. All but `agent_start` and `agent_end` are awaited by omp. */
export interface Events {
	session_start: [unknown, void];
	session_switch: [SwitchEvent, void];
	session_branch: [unknown, void];
	session_shutdown: [unknown, void];
	turn_start: [unknown, void];
	agent_start: [unknown, void];
	agent_end: [EndEvent, void];
	before_subagent_spawn: [SpawnEvent, SpawnAnswer | undefined];
	tool_call: [ToolCallEvent, ToolCallAnswer | undefined];
}

/** `pi.settings` throws while omp validates a plugin without a session. */
export interface Pi {
	on<E extends keyof Events>(
		event: E,
		handler: (event: Events[E][0], ctx: Context) => Events[E][1] | Promise<Events[E][1]> | undefined,
	): void;
	registerTool(tool: ToolDefinition): void;
	registerCommand(name: string, command: SlashCommand): void;
	sendMessage(message: CustomMessage, options: SendOptions): void;
	pi: { readonly settings: object; readonly VERSION?: string };
}

/** An agent as omp's registry knows it. `status`: running, idle, parked, aborted. */
export interface Ref {
	id: string;
	displayName: string;
	kind: string;
	parentId?: string;
	createdAt?: number;
}

export interface Registry {
	list(): Ref[];
	isRunning(ref: Ref): boolean;
	onChange(listener: (event: { ref: Ref }) => void): () => void;
}

/** `from` and `wakeRelay` go into the record: omp hands nothing back to whoever a wake relay is from. */
export interface IrcMessage {
	id: string;
	from: string;
	to: string;
	body: string;
	ts: number;
	wakeRelay: true;
}

export interface Lifecycle {
	ensureLive(id: string): Promise<{ deliverIrcMessage(message: IrcMessage): Promise<unknown> }>;
}

export interface Setting {
	readonly default: unknown;
	get(settings: object): unknown;
	provenance(settings: object): string;
	override(settings: object, value: number): void;
	clearOverride(settings: object): void;
}
