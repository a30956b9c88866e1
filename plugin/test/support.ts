// An omp without omp: it has the parts that the plugin uses, and shows what the plugin did with them.

import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { patience as bashPatience } from "../src/bash.ts";
import ompCoord from "../src/index.ts";
import type {
	Context,
	CustomMessage,
	Events,
	Identity,
	Pi,
	Ref,
	Registry,
	SendOptions,
	Setting,
	SlashCommand,
	ToolDefinition,
} from "../src/omp.ts";
import type { Opened } from "../src/protocol.ts";
import { patience as slashPatience } from "../src/slash.ts";
import { type Shared, shared } from "../src/state.ts";

const PATIENCE_MS = 25_000;
bashPatience.ms = slashPatience.ms = PATIENCE_MS; // a bridge that is slow is none that is silent, but for the test about it

/** Waits for a condition. */
export async function until<T>(condition: () => T, what: string): Promise<NonNullable<T>> {
	for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await Bun.sleep(5)) {
		const found = condition();
		if (found) return found;
	}
	throw new Error(`never: ${what}`);
}

export const ALLOWED = { allowed: true, coordinated: true, pool: "work", used: 1, cap: 2, allowance: null };

export function opened(more: Partial<Opened> = {}): { result: Opened } {
	return {
		result: {
			protocol: 1,
			active: true,
			session: "s1",
			label: "A",
			scope: "app",
			footer: "coord A",
			notices: [{ level: "info", text: "session A of app" }],
			env: { OMP_COORD_SESSION: "s1" },
			tools: [{ name: "coord_status", description: "Shows the board", schema: { type: "object" } }],
			commands: [{ name: "pause", description: "pause all" }],
			spawnQueue: { drive: false, allowance: null, note: "" },
			...more,
		},
	};
}

export function inactive(code: string, reason: string): object {
	const { tools, commands } = opened().result;
	return { result: { protocol: 1, active: false, code, reason, tools, commands } };
}

interface Heard {
	method: string;
	params: any;
}

/** The command `omp-coord` of a test. */
export class FakeBridge {
	readonly folder = mkdtempSync(join(tmpdir(), "omp-coord-plugin-"));
	readonly #log = join(this.folder, "log");
	readonly #script = join(this.folder, "answers.json");
	#answers: Record<string, unknown> = { "session.open": opened(), "spawn.request": { result: ALLOWED } };

	constructor() {
		const command = join(this.folder, "omp-coord");
		const script = join(import.meta.dir, "fake-bridge.ts");
		writeFileSync(command, `#!/bin/sh\nexec '${process.execPath}' '${script}' "$@"\n`);
		chmodSync(command, 0o755);
		writeFileSync(this.#log, "");
		this.answers({});
		Object.assign(process.env, { OMP_COORD_BIN: command, FAKE_LOG: this.#log, FAKE_ANSWERS: this.#script });
		process.env["OMP_COORD_HOME"] = join(this.folder, "home");
	}

	answers(more: Record<string, unknown>): void {
		Object.assign(this.#answers, more);
		writeFileSync(`${this.#script}.new`, JSON.stringify(this.#answers));
		renameSync(`${this.#script}.new`, this.#script); // a bridge may read it at this moment
	}

	heard(method: string): Heard["params"][] {
		const lines = readFileSync(this.#log, "utf8").split("\n").slice(0, -1);
		const all: Heard[] = lines.map(line => JSON.parse(line));
		return all.filter(each => each.method === method).map(each => each.params);
	}

	/** Methods in the order in which they came. */
	order(): string[] {
		const lines = readFileSync(this.#log, "utf8").split("\n").slice(0, -1);
		return lines.map(line => JSON.parse(line).method).filter(method => method !== "started" && method !== "ended");
	}

	async hears(method: string, times = 1): Promise<Heard["params"]> {
		await until(() => this.heard(method).length >= times, `${method} ×${times}`);
		return this.heard(method)[times - 1];
	}

	remove(): void {
		if (existsSync(this.folder)) rmSync(this.folder, { recursive: true });
	}
}

export class FakeSetting implements Setting {
	readonly default = 32;
	own: { value: unknown; layer: string } = { value: 32, layer: "default" };
	set: unknown = null;
	writes: unknown[] = [];
	get = () => this.set ?? this.own.value;
	provenance = () => (this.set === null ? this.own.layer : "runtime");
	override = (_: object, value: number) => {
		this.set = value;
		this.writes.push(value);
	};
	clearOverride = () => {
		this.set = null;
		this.writes.push("clear");
	};
}

export class FakeRegistry implements Registry {
	refs = new Map<string, Ref & { runs: boolean }>();
	#listeners = new Set<(event: { ref: Ref }) => void>();
	list = () => [...this.refs.values()];
	isRunning = (ref: Ref) => this.refs.get(ref.id)?.runs === true;
	onChange = (listener: (event: { ref: Ref }) => void) => {
		this.#listeners.add(listener);
		return () => this.#listeners.delete(listener);
	};
	/** An agent runs, or does not, and the listeners learn of it. */
	now(id: string, runs: boolean, more: Partial<Ref> = {}): void {
		const ref = { id, displayName: "task", kind: "sub", parentId: "Main", ...more, runs };
		this.refs.set(id, ref);
		for (const listener of this.#listeners) listener({ ref });
	}
}

type Handler = (event: unknown, ctx: Context) => unknown;

/** One session of omp with the plugin in it: Main, or a subagent. */
export class Session {
	readonly handlers = new Map<string, Handler>();
	readonly tools = new Map<string, ToolDefinition>();
	readonly sent: [CustomMessage, SendOptions][] = [];
	readonly notices: [string, string][] = [];
	readonly footers: (string | undefined)[] = [];
	command!: SlashCommand;
	idle = true;
	broken = false;
	sessionId = "host-1";
	entries: unknown[] = [];
	readonly pi: Pi;
	readonly ctx: Context;

	constructor(
		readonly agent: Identity = { kind: "main", id: "Main", name: "main" },
		hasUI = true,
	) {
		this.pi = {
			on: (event, handler) => this.handlers.set(event, handler as Handler),
			registerTool: tool => this.tools.set(tool.name, tool),
			registerCommand: (_, command) => {
				this.command = command;
			},
			sendMessage: (message, options) => {
				if (this.broken) throw new Error("not initialized");
				this.sent.push([message, options]);
			},
			pi: { settings: {}, VERSION: "18.3.4" },
		};
		this.ctx = {
			ui: {
				notify: (text, level) => this.notices.push([level ?? "info", text]),
				setStatus: (_, text) => this.footers.push(text),
			},
			hasUI,
			cwd: process.cwd(),
			agent,
			isIdle: () => this.idle,
			sessionManager: { getSessionId: () => this.sessionId, getEntries: () => this.entries },
		};
		ompCoord(this.pi);
	}

	emit<E extends keyof Events>(event: E, what: Events[E][0] = {} as never): Promise<Events[E][1]> {
		return Promise.resolve(this.handlers.get(event)?.(what, this.ctx)) as Promise<Events[E][1]>;
	}

	/** A spawn check, as omp asks it in this session. */
	spawn(agent = "task", spawnKey?: string): Promise<Events["before_subagent_spawn"][1]> {
		const key = spawnKey === undefined ? {} : { spawnKey };
		return this.emit("before_subagent_spawn", { agent, invocationKind: "task", ...key });
	}

	notice(level: string): string | undefined {
		return this.notices.find(notice => notice[0] === level)?.[1];
	}
}

export function sub(id: string, more: Partial<Identity> = {}): Session {
	return new Session({ kind: "sub", id, name: "task", parentId: "Main", ...more }, false);
}

/** The state as it is in a new process; omp's own modules are not looked for. */
export function freshState(): Shared {
	const s = shared();
	Object.assign(s, { main: null, connection: null, apart: null, opened: null, tools: [], commands: [], env: [] });
	Object.assign(s, { setting: new FakeSetting(), registry: null, lifecycle: null, outage: false, asking: 0, infos: [], footer: "" });
	Object.assign(s.queue, { wanted: null, limit: null, before: null, ceiling: undefined, reported: false });
	for (const each of [s.live, s.running, s.delivered, s.told]) each.clear();
	return s;
}

/** What a test begins with, and how it ends: with no process left. Its folder has a configuration file if it is `configured`. */
export class World {
	readonly bridge = new FakeBridge();
	readonly s = freshState();
	readonly main: Session;
	readonly #before = process.cwd();

	constructor(hasUI = true, configured = false) {
		if (configured) writeFileSync(join(this.bridge.folder, ".omp-coord.json"), "{}");
		mkdirSync(join(this.bridge.folder, "project"));
		process.chdir(join(this.bridge.folder, "project"));
		this.main = new Session(undefined, hasUI);
	}

	/** Main has started, and its session is open. */
	async open(answers: Record<string, unknown> = {}): Promise<void> {
		this.bridge.answers(answers);
		await this.main.emit("session_start");
		await until(() => this.s.connection?.state === "open" || this.s.apart, "an answer to session.open");
	}

	async end(): Promise<void> {
		await this.main.emit("session_shutdown");
		const pids = this.bridge.heard("started").map(({ pid }) => pid);
		await until(() => pids.every(pid => !alive(pid)), "no bridge is left");
		process.chdir(this.#before);
		this.bridge.remove();
	}
}

export function alive(pid: number): boolean {
	try {
		process.kill(pid, 0);
		return true;
	} catch {
		return false;
	}
}
