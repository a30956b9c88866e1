// The bridge's process. It is detached, so that a Ctrl+C in omp's terminal does not reach it: the end of its input is
// what tells it that omp went, however omp went. (By Bun's own call: that of node:child_process holds omp up for 17 ms.)

import { closeSync, fstatSync, ftruncateSync, mkdirSync, openSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Subprocess } from "bun";

const MOST_BYTES = 1_000_000;

/** `end` says whether the command could not be started at all. */
export interface Heard {
	line(text: string): void;
	end(missing: boolean): void;
}

type Process = Subprocess<"pipe", "pipe", number | "ignore">;

export class Child {
	#process: Process | null;
	#rest = "";
	#ended = false;

	constructor(
		env: Record<string, string | undefined>,
		private readonly heard: Heard,
	) {
		this.#process = started(env, () => this.#end(false));
		if (this.#process === null) queueMicrotask(() => this.#end(true));
		else this.#read(this.#process.stdout).catch(() => {}); // it has ended: its exit says so
		this.#process?.unref(); // omp need not stay for it
	}

	get pid(): number | undefined {
		return this.#process?.pid;
	}

	write(line: string): void {
		if (this.#ended || this.#process === null) return;
		const { stdin } = this.#process;
		whateverComesOf(() => stdin.write(`${line}\n`));
		whateverComesOf(() => stdin.flush());
	}

	/** Ends its input; it leaves the board and exits. */
	close(): void {
		whateverComesOf(() => this.#process?.stdin.end());
	}

	async #read(stdout: ReadableStream<Uint8Array>): Promise<void> {
		const decoder = new TextDecoder();
		for await (const bytes of stdout) this.#take(decoder.decode(bytes, { stream: true }));
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

/** A bridge that has just ended cannot be written to: its exit says so. */
function whateverComesOf(written: () => unknown): void {
	try {
		Promise.resolve(written()).catch(() => {});
	} catch {}
}

function started(env: Record<string, string | undefined>, ended: () => void): Process | null {
	const stderr = openLog(env);
	try {
		const words = [env["OMP_COORD_BIN"] || "omp-coord", "bridge"];
		return Bun.spawn(words, {
			env,
			stdin: "pipe",
			stdout: "pipe",
			stderr: stderr ?? "ignore",
			detached: true,
			onExit: ended,
		});
	} catch {
		return null;
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
