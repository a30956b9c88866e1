// A bridge that stays: started anew when it dies, with growing delay, and opened again with all that runs.

import { Client, Refused, whenAnswered } from "./client.ts";
import type { CloseReason } from "./nouns.ts";
import type { Inactive, Opened, Requests, SessionOpen } from "./protocol.ts";

const FIRST_DELAY_MS = 200;
const MOST_DELAY_MS = 10_000;
/** A bridge that lived so long after it was opened starts the row of delays anew. */
const GOOD_MS = 10_000;
const LEAVE_MS = 1_000;

/** Whose session it is. `again`: the bridge had died, and the session is the same. */
export interface Owner {
	env(): Record<string, string | undefined>;
	opening(): SessionOpen;
	opened(result: Opened | Inactive, again: boolean): void;
	said(method: string, params: unknown): void;
	/** It died; it is being started again. */
	lost(): void;
	/** There is no such command; nothing more is tried. */
	missing(): void;
}

/** opening: its first answer is waited for; down: it died; over: closed, or missing. */
export type State = "opening" | "open" | "down" | "over";

export class Connection {
	state: State = "opening";
	#client: Client | undefined;
	#delay = FIRST_DELAY_MS;
	#openedAt = 0;
	#timer: ReturnType<typeof setTimeout> | undefined;
	#settled = Promise.withResolvers<void>();
	#gone = Promise.withResolvers<void>();
	#round = 0;

	constructor(private readonly owner: Owner) {}

	start(): void {
		this.#start(false);
	}

	get pid(): number | undefined {
		return this.#client?.pid;
	}

	/** Until the first answer to `session.open`, or the first failure; at most `patienceMs`. */
	async settled(patienceMs: number): Promise<void> {
		if (this.state !== "opening") return;
		const late = Promise.withResolvers<void>();
		const timer = setTimeout(late.resolve, patienceMs);
		await Promise.race([this.#settled.promise, late.promise]);
		clearTimeout(timer);
	}

	/** The line is written before this returns, if there is a process. Rejects with `Refused`. */
	request<M extends keyof Requests>(
		method: M,
		params: Requests[M]["params"],
		patienceMs = 0,
	): Promise<Requests[M]["result"]> {
		if (this.#client === undefined) return Promise.reject(new Refused("there is no bridge"));
		return this.#client.request(method, params, patienceMs);
	}

	/** Closes the session, if there is a reason, and opens the next one of the same omp. */
	next(reason: CloseReason | null): void {
		const client = this.#client;
		if (client === undefined) return; // it is opened for the next session when it is back
		if (reason !== null) whenAnswered(client.request("session.close", { reason }, 0));
		if (this.state === "open") this.#opens();
		this.#open(client, false);
	}

	/** Leaves the board and ends the bridge; over when it is gone, or after a second. */
	async close(reason: CloseReason): Promise<void> {
		this.#over();
		clearTimeout(this.#timer);
		const client = this.#client;
		if (client === undefined) return;
		whenAnswered(client.request("session.close", { reason }, 0));
		client.close();
		const late = setTimeout(this.#gone.resolve, LEAVE_MS);
		await this.#gone.promise;
		clearTimeout(late);
	}

	#over(): void {
		this.state = "over";
		this.#settled.resolve();
	}

	#opens(): void {
		this.state = "opening";
		this.#settled = Promise.withResolvers<void>();
	}

	#start(again: boolean): void {
		const client: Client = new Client(
			this.owner.env(),
			(method, params) => this.state !== "over" && this.owner.said(method, params),
			missing => this.#ended(client, missing),
		);
		this.#client = client;
		this.#open(client, again);
	}

	#open(client: Client, again: boolean): void {
		const round = ++this.#round;
		const answered = client.request("session.open", this.owner.opening(), 0).then(
			result => round === this.#round && this.#opened(result, again),
			() => client.close(), // its end is the end of this try
		);
		whenAnswered(answered);
	}

	#opened(result: Opened | Inactive, again: boolean): void {
		if (this.state === "over") return;
		this.state = "open";
		this.#openedAt = Date.now();
		this.#settled.resolve();
		this.owner.opened(result, again);
	}

	#ended(client: Client, missing: boolean): void {
		this.#gone.resolve();
		if (client !== this.#client) return;
		this.#client = undefined;
		if (this.state === "over") return;
		if (missing) {
			this.#over();
			this.owner.missing();
			return;
		}
		if (this.state === "open" && Date.now() - this.#openedAt > GOOD_MS) this.#delay = FIRST_DELAY_MS;
		this.state = "down";
		this.#settled.resolve();
		this.#timer = setTimeout(() => this.#start(true), this.#delay);
		this.#timer.unref?.();
		this.#delay = Math.min(this.#delay * 2, MOST_DELAY_MS);
		this.owner.lost();
	}
}
