// Made from coord/bridge/protocol.py by `python -m coord.bridge.typescript`; changed there, not here.

import type { Agent, Cause, CloseReason, Command, Host, InactiveCode, Level, Notice, Parent, SpawnQueue, Tool } from "./nouns.ts";

export const PROTOCOL = 1;

/** `sessionId`: the host's own; `pid`: the host's process; `agents`: all that run now; `shown`: ids of deliveries that the conversation has already. */
export interface SessionOpen {
	protocol: number;
	cwd: string;
	host?: Host | null;
	sessionId: string;
	pid: number;
	agents?: Agent[] | null;
	shown?: string[] | null;
}

export interface Opened {
	protocol: number;
	active: true;
	session: string;
	label: string;
	scope: string;
	footer: string;
	notices: Notice[];
	env: Record<string, string>;
	tools: Tool[];
	commands: Command[];
	spawnQueue: SpawnQueue;
}

/** The session is not on the board; the bridge waits for the end of input, or until it can join (`joined`). */
export interface Inactive {
	protocol: number;
	active: false;
	code: InactiveCode;
	reason: string;
	tools: Tool[];
	commands: Command[];
}

/** `key`: the agent's id, if it is known; `invocation`: eval, all else counts as task. */
export interface SpawnRequest {
	parent: Parent;
	type: string;
	key?: string | null;
	invocation?: string | null;
}

/** `pool` null: the agent is counted, not capped. `cap` null: no cap is known. `coordinated` false: let through without the board. */
export interface SpawnResult {
	allowed: boolean;
	coordinated: boolean;
	reason?: string;
	cause?: Cause;
	place?: number;
	pool: string | null;
	used: number;
	cap: number | null;
	allowance: number | null;
}

export interface AgentStarted {
	session: string;
	id: string;
	parent: Parent;
	type: string;
}

export interface AgentStartedResult {
	warning?: string;
	allowance: number | null;
}

export interface AgentEnded {
	session: string;
	id: string;
}

export interface AgentsSync {
	agents: Agent[];
}

export interface Allowance {
	allowance: number | null;
}

/** A command that an agent is about to run with a tool of the host; `cwd`: the folder that it names, if any. */
export interface CommandCheck {
	agent: string;
	kind: string;
	tool: string;
	command: string;
	cwd?: string | null;
}

/** `command`: what is run instead. `reason`: why it is refused. `context`: words for the model that ran it. */
export interface CommandResult {
	action: "run" | "refuse";
	command?: string;
	reason?: string;
	context?: string;
}

export interface ToolCall {
	agent: string;
	name: string;
	args?: Record<string, unknown> | null;
}

export interface ToolResult {
	text: string;
	isError: boolean;
}

export interface SlashRun {
	args: string;
}

export interface SlashText {
	text: string;
}

export interface SlashComplete {
	prefix: string;
}

export interface SlashItem {
	value: string;
	label: string;
	description: string;
}

export interface SlashItems {
	items: SlashItem[];
}

/** The host's own spawn queue cannot be kept at the allowance: it has no such setting, or setting it failed. */
export interface QueueUnsized {
	reason: string;
}

export interface MessageAck {
	ids: string[];
}

export interface SessionClose {
	reason: CloseReason;
}

export interface Deliver {
	id: string;
	to: string;
	from: string;
	text: string;
	startTurn: boolean;
}

export interface Notify {
	level: Level;
	text: string;
}

export interface Footer {
	text: string;
}

export interface AllowanceNow {
	value: number | null;
	note: string;
}

/** Method → its parameters and its result. */
export interface Requests {
	"session.open": { params: SessionOpen; result: Opened | Inactive };
	"spawn.request": { params: SpawnRequest; result: SpawnResult };
	"agent.started": { params: AgentStarted; result: AgentStartedResult };
	"agent.ended": { params: AgentEnded; result: Allowance };
	"agents.sync": { params: AgentsSync; result: Allowance };
	"command.check": { params: CommandCheck; result: CommandResult };
	"tool.call": { params: ToolCall; result: ToolResult };
	"slash.run": { params: SlashRun; result: SlashText };
	"slash.complete": { params: SlashComplete; result: SlashItems };
	"spawnQueue.unsized": { params: QueueUnsized; result: null };
	"message.ack": { params: MessageAck; result: null };
	"session.close": { params: SessionClose; result: null };
}

/** What the bridge says unasked: method → its parameters. */
export interface Notifications {
	deliver: Deliver;
	notify: Notify;
	footer: Footer;
	allowance: AllowanceNow;
	joined: Opened;
}
