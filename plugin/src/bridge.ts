// What passes between this omp's session and its bridge. Opening goes on beside omp's start; what it brings is taken up
// when it is there.

import { cannotSize, findSetting, forgetCeiling, setAllowance } from "./allowance.ts";
import { whenAnswered } from "./client.ts";
import { Connection } from "./connection.ts";
import { deliver, shownIn } from "./delivery.ts";
import { clearEnvironment, plainEnvironment, setEnvironment } from "./environment.ts";
import {
	type AllowanceNow,
	type Deliver,
	type Footer,
	type Inactive,
	type Notify,
	type Opened,
	PROTOCOL,
	type SessionOpen,
} from "./protocol.ts";
import { findRegistry, runningNow, watchAgents } from "./roster.ts";
import { type Shared, shared } from "./state.ts";
import { BACK, LOST, MISSING } from "./texts.ts";
import { registerTools } from "./tools.ts";
import { footer, notify, showInfos } from "./ui.ts";
import { VERSION } from "./version.ts";

const OPEN_MS = 5_000;
/** A bridge that is away for so long may not come back: omp's own queue is given back to omp. */
const GIVE_UP_MS = 5_000;
/** Inactive without a word and without a process: nothing is expected to change by itself. */
const QUIET: string[] = ["noConfig", "off"];

/** Whether no bridge was started for Main yet. */
export function isDue(s: Shared): boolean {
	return s.main !== null && s.connection === null && s.apart === null;
}

/** The connection, started now if it was not yet; null when the session has none. */
export function connected(s: Shared): Connection | null {
	if (isDue(s)) connect(s);
	return s.connection;
}

export function connect(s: Shared): void {
	const connection: Connection = new Connection({
		env: () => plainEnvironment(s),
		opening: () => opening(s),
		opened: (result, again) => s.connection === connection && opened(s, result, again),
		said: (method, params) => s.connection === connection && said(s, method, params),
		lost: () => s.connection === connection && lost(s),
		missing: () => s.connection === connection && missing(s),
	});
	s.connection = connection;
	connection.start();
}

/** Asks the bridge; null when there is none. A session that is inactive, and has none, tries anew for it. */
export async function ask<T>(question: (connection: Connection) => Promise<T>): Promise<T | null> {
	const s = shared();
	s.asking += 1;
	try {
		if (s.connection === null && s.main !== null) connect(s);
		const connection = s.connection;
		await connection?.settled(OPEN_MS);
		return connection?.state === "open" ? await question(connection) : null;
	} finally {
		s.asking -= 1;
		rest(s);
	}
}

/** The one error notice of an outage. */
export function tellOutage(s: Shared): void {
	if (!s.outage) notify(s, [{ level: "error", text: LOST }]);
	s.outage = true;
}

/** A bridge that only stood still has answered; one that was started again says so by its join. */
export function outageOver(s: Shared): void {
	if (!s.outage || s.opened === null) return;
	s.outage = false;
	notify(s, [{ level: "info", text: BACK }]);
}

/** Takes back all that a session on the board brings with it. */
export function leave(s: Shared): void {
	stop(s);
	setAllowance(s, null);
	forgetCeiling(s);
	clearEnvironment(s);
	footer(s, "");
	showInfos(s);
	s.opened = null;
	s.outage = false;
}

function stop(s: Shared): void {
	for (const each of s.stops.splice(0)) each();
}

function opening(s: Shared): SessionOpen {
	const { sessionId = "", cwd = process.cwd(), pi } = s.main ?? {};
	const host = { name: "omp", version: pi?.pi.VERSION ?? null, plugin: VERSION };
	const agents = runningNow(s).filter(agent => s.running.get(agent.id)?.session === sessionId);
	return { protocol: PROTOCOL, cwd, host, sessionId, pid: process.pid, agents, shown: shownIn(s) };
}

function opened(s: Shared, result: Opened | Inactive, again: boolean): void {
	s.tools = result.tools;
	s.commands = result.commands;
	if (s.main !== null) registerTools(s, s.main.pi);
	if (result.active) joined(s, result, again && !s.outage);
	else inactive(s, result);
}

/** `quiet`: the user has not noticed that the bridge was away. */
function joined(s: Shared, result: Opened, quiet: boolean): void {
	stop(s);
	s.outage = false;
	s.apart = null;
	s.opened = result;
	s.queue.reported = false; // this bridge has not heard of it
	s.told.clear();
	setEnvironment(s, result.env);
	footer(s, result.footer);
	setAllowance(s, result.spawnQueue.drive ? result.spawnQueue.allowance : null);
	if (!quiet) notify(s, result.notices);
	whenAnswered(begin(s, result));
}

/** omp's modules are looked for once a session is on the board: no other omp pays for it. */
async function begin(s: Shared, result: Opened): Promise<void> {
	await Promise.all([findSetting(s), findRegistry(s)]);
	if (s.opened !== result) return;
	s.stops.push(watchAgents(s));
	if (s.setting === null) cannotSize(s, "this omp has no setting task.maxConcurrency");
	setAllowance(s, s.queue.wanted);
}

function inactive(s: Shared, result: Inactive): void {
	leave(s);
	s.apart = result;
	const text = `omp-coord: ${result.reason}`;
	if (!QUIET.includes(result.code) && !s.told.has(text)) notify(s, [{ level: "error", text }]);
	s.told.add(text);
	rest(s);
}

/** Ends a bridge that nobody asks and that nothing will change for. */
function rest(s: Shared): void {
	if (s.asking > 0 || s.apart === null || s.apart === "missing" || !QUIET.includes(s.apart.code)) return;
	const connection = s.connection;
	s.connection = null;
	void connection?.close("exit");
}

function missing(s: Shared): void {
	leave(s);
	s.connection = null;
	s.apart = "missing";
	if (!s.told.has(MISSING)) notify(s, [{ level: "error", text: MISSING }]);
	s.told.add(MISSING);
}

function lost(s: Shared): void {
	if (s.opened === null) return;
	const giveUp = setTimeout(() => setAllowance(s, null), GIVE_UP_MS);
	giveUp.unref?.();
	s.stops.push(() => clearTimeout(giveUp));
}

function said(s: Shared, method: string, params: unknown): void {
	if (method === "deliver") whenAnswered(deliver(params as Deliver));
	else if (method === "notify") notify(s, [params as Notify]);
	else if (method === "footer") footer(s, (params as Footer).text);
	else if (method === "allowance") setAllowance(s, (params as AllowanceNow).value);
	else if (method === "joined") opened(s, params as Opened, false);
}
