// The bridge's process. It is detached, so that a Ctrl+C in omp's terminal does not reach it: the end of its input is
// what tells it that omp went, however omp went.

import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { closeSync, fstatSync, ftruncateSync, mkdirSync, openSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

const MOST_BYTES = 1_000_000;

/** `end` says whether the command could not be started at all. */
export interface Heard {
	line(text: string): void;
	end(missing: boolean): void;
}

export class Child {
	#process: ChildProcess | null;
	#rest = "";
	#ended = false;

	constructor(
		env: Record<string, string | undefined>,
		private readonly heard: Heard,
	) {
		this.#process = started(env);
		if (this.#process === null) queueMicrotask(() => this.#end(true));
		this.#process?.on("error", () => this.#end(this.pid === undefined));
		this.#process?.on("exit", () => this.#end(false));
		this.#process?.stdin?.on("error", () => {}); // it has ended: its exit says so
		this.#process?.stdout?.setEncoding("utf8");
		this.#process?.stdout?.on("data", (text: string) => this.#take(text));
		this.#process?.unref(); // omp need not stay for it
	}

	get pid(): number | undefined {
		return this.#process?.pid;
	}

	write(line: string): void {
		if (!this.#ended) this.#process?.stdin?.write(`${line}\n`);
	}

	/** Ends its input; it leaves the board and exits. */
	close(): void {
		this.#process?.stdin?.end();
	}

	#take(text: string): void {
		const lines = (this.#rest + text).split("\n");
		this.#rest = lines.pop() ?? "";
		for (const line of lines) this.heard.line(line);
	}

	#end(missing: boolean): void {
		if (this.#ended) return;
		this.#ended = true;
		this.heard.end(missing);
	}
}

function started(env: Record<string, string | undefined>): ChildProcess | null {
	const stderr = openLog(env);
	try {
		const stdio: StdioOptions = ["pipe", "pipe", stderr ?? "ignore"];
		return spawn(env["OMP_COORD_BIN"] || "omp-coord", ["bridge"], { detached: true, env, stdio });
	} catch {
		return null; // some faults of a command are thrown, others are an event
	} finally {
		if (stderr !== null) closeSync(stderr);
	}
}

/** Where the bridge's faults go. It is for whoever looks for one: without it the bridge works all the same. */
function openLog(env: Record<string, string | undefined>): number | null {
	const state = env["XDG_STATE_HOME"] || join(env["HOME"] || homedir(), ".local", "state");
	const folder = env["OMP_COORD_HOME"] || join(state, "omp-coord");
	try {
		mkdirSync(folder, { recursive: true, mode: 0o700 });
		const fd = openSync(join(folder, "bridge.stderr"), "a", 0o600);
		if (fstatSync(fd).size > MOST_BYTES) ftruncateSync(fd);
		return fd;
	} catch {
		return null;
	}
}
