// A bridge that answers as it is told. Each request goes to the file FAKE_LOG; FAKE_ANSWERS (a JSON file, read for every
// request) says what a method is answered with: {"result": …}, {"error": …}, {"silent": true}, {"die": true}, and with any
// of them "say": [[method, params], …], notifications that come before the answer.

import { appendFileSync, readFileSync } from "node:fs";

interface Scripted {
	result?: unknown;
	error?: { code: number; message: string };
	silent?: boolean;
	die?: boolean;
	say?: [string, unknown][];
}

const log = process.env["FAKE_LOG"] ?? "";
const script = process.env["FAKE_ANSWERS"] ?? "";

function note(line: unknown): void {
	appendFileSync(log, `${JSON.stringify(line)}\n`);
}

function say(message: object): void {
	process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
}

function take(line: string): void {
	const { id, method, params } = JSON.parse(line);
	note({ method, params });
	const scripted: Scripted = JSON.parse(readFileSync(script, "utf8"))[method] ?? { result: null };
	for (const [name, told] of scripted.say ?? []) say({ method: name, params: told });
	if (scripted.die) process.exit(1);
	if (scripted.silent) return;
	say(scripted.error ? { id, error: scripted.error } : { id, result: scripted.result ?? null });
}

note({ method: "started", params: { pid: process.pid, env: process.env["OMP_COORD_SESSION"] ?? null, at: Date.now() } });
let rest = "";
for await (const chunk of process.stdin) {
	const lines = (rest + chunk).split("\n");
	rest = lines.pop() ?? "";
	for (const line of lines) take(line);
}
note({ method: "ended", params: null });
