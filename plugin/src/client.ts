// JSON-RPC with one bridge process: a line for a request, a line for its answer, and lines that come unasked.

import { Child } from "./child.ts";
import type { Requests } from "./protocol.ts";

/** The bridge answered with an error (its `code`), or it ended, or it took too long (no code). */
export class Refused extends Error {
	constructor(
		text: string,
		readonly code?: number,
	) {
		super(text);
	}
}

interface Waiting {
	resolve(result: unknown): void;
	reject(error: Refused): void;
	timer: ReturnType<typeof setTimeout> | undefined;
}

interface Message {
	id?: number;
	method?: string;
	params?: unknown;
	result?: unknown;
	error?: { code: number; message: string };
}

/** Takes an answer that nobody waits for. No fault of its own or of the bridge's may reach omp, which would end. */
export function whenAnswered<T>(answer: Promise<T> | undefined, take: (result: T) => unknown = () => {}): void {
	answer?.then(take).catch(() => {});
}

export class Client {
	#child: Child;
	#waiting = new Map<number, Waiting>();
	#last = 0;
	#ended = false;

	/** `said` gets what comes unasked; `ended` is called once, when the process is gone or could not be started. */
	constructor(
		env: Record<string, string | undefined>,
		private readonly said: (method: string, params: unknown) => void,
		private readonly ended: (missing: boolean) => void,
	) {
		this.#child = new Child(env, { line: text => this.#take(text), end: missing => this.#end(missing) });
	}

	get pid(): number | undefined {
		return this.#child.pid;
	}

	/** The line is written before this returns. Rejects with `Refused`; `patienceMs` 0: however long it takes. */
	request<M extends keyof Requests>(
		method: M,
		params: Requests[M]["params"],
		patienceMs: number,
	): Promise<Requests[M]["result"]> {
		if (this.#ended) return Promise.reject(new Refused("the bridge has ended"));
		const id = ++this.#last;
		const answer = new Promise<Requests[M]["result"]>((resolve, reject) => {
			const timer = patienceMs > 0 ? setTimeout(() => this.#give(id, "no answer in time"), patienceMs) : undefined;
			this.#waiting.set(id, { resolve: result => resolve(result as Requests[M]["result"]), reject, timer });
		});
		this.#child.write(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
		return answer;
	}

	close(): void {
		this.#child.close();
	}

	#take(line: string): void {
		try {
			const message = JSON.parse(line) as Message;
			if (message.method !== undefined) this.said(message.method, message.params);
			else if (message.id !== undefined) this.#answered(message.id, message);
		} catch {} // half a line of a bridge that was killed, or a shape that this plugin does not know
	}

	#answered(id: number, message: Message): void {
		const waiting = this.#removed(id);
		if (message.error === undefined) waiting?.resolve(message.result);
		else waiting?.reject(new Refused(message.error.message, message.error.code));
	}

	#give(id: number, why: string): void {
		this.#removed(id)?.reject(new Refused(why));
	}

	#removed(id: number): Waiting | undefined {
		const waiting = this.#waiting.get(id);
		this.#waiting.delete(id);
		clearTimeout(waiting?.timer);
		return waiting;
	}

	#end(missing: boolean): void {
		this.#ended = true;
		for (const id of [...this.#waiting.keys()]) this.#give(id, "the bridge has ended");
		this.ended(missing);
	}
}
