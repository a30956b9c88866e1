import { afterEach, beforeEach, expect, test } from "bun:test";
import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { alive, opened, Session, until, World } from "./support.ts";

let world: World;
beforeEach(() => {
	world = new World();
});
afterEach(() => world.end());

test("a bridge that keeps dying is started with growing delay", async () => {
	world.bridge.answers({ "session.open": { die: true } });
	await world.main.emit("session_start");
	await world.bridge.hears("started", 4);
	const times: number[] = world.bridge.heard("started").map(({ at }) => at); // by their own clocks: here they are seen late
	const gaps = times.slice(1).map((time, n) => time - (times[n] ?? 0));
	for (const [n, least] of [200, 400, 800].entries()) expect(gaps[n]).toBeGreaterThanOrEqual(least - 5);
	world.bridge.answers({ "session.open": opened() });
	await until(() => world.s.connection?.state === "open", "it is open at last");
}, 30_000);

test("a bridge that came back says nothing to a user who did not notice, and all is as before", async () => {
	await world.open();
	await until(() => world.main.notices.length === 1, "the join");
	process.kill(world.s.connection?.pid ?? 0, "SIGKILL");
	await world.bridge.hears("session.open", 2);
	await until(() => world.s.connection?.state === "open", "the bridge is back");
	expect(world.main.notices).toHaveLength(1);
	expect(process.env["OMP_COORD_SESSION"]).toBe("s1");
	expect(world.bridge.heard("started")[1].env).toBeNull(); // a bridge belongs to no session
});

test("the bridge ends with its input, however omp went", async () => {
	await world.open();
	const pid = world.s.connection?.pid ?? 0;
	const connection = world.s.connection;
	world.s.connection = null; // nobody says goodbye
	void connection?.close("exit");
	await until(() => !alive(pid), "the bridge is gone");
	await world.bridge.hears("ended");
});

test("a bridge that does not answer keeps omp's end for a second only", async () => {
	await world.open({ "session.close": { silent: true } });
	const pid = world.s.connection?.pid ?? 0;
	process.kill(pid, "SIGSTOP");
	const asked = Date.now();
	await world.main.emit("session_shutdown");
	expect(Date.now() - asked).toBeLessThan(6_000);
	process.kill(pid, "SIGCONT");
});

test("lines that are none, and answers to nothing, are passed over", async () => {
	await world.open({ "slash.run": { result: { text: "well" }, say: [["unheard-of", {}]] } });
	await world.main.command.handler("", world.main.ctx);
	expect(world.main.notices.at(-1)?.[1]).toEndWith("well");
});

test("a fault in what the bridge sends reaches nobody", async () => {
	await world.open({ "slash.run": { result: { text: "well" }, say: [["deliver", null], ["notify", null], ["footer", 7]] } });
	await world.main.command.handler("", world.main.ctx);
	expect(world.main.notices.at(-1)?.[1]).toEndWith("well");
});

test("stderr goes to a file of the state folder, which does not grow for ever", async () => {
	const path = join(world.bridge.folder, "home", "bridge.stderr");
	await world.open();
	const fd = openSync(path, "w");
	writeSync(fd, Buffer.alloc(1_000_001));
	closeSync(fd);
	process.kill(world.s.connection?.pid ?? 0, "SIGKILL");
	await world.bridge.hears("started", 2);
	expect(readFileSync(path)).toHaveLength(0);
});

test("without a UI: what is wrong goes to stderr, the rest nowhere", async () => {
	await world.end();
	world = new World(false);
	const written: string[] = [];
	const write = process.stderr.write;
	process.stderr.write = ((text: string) => written.push(text) > 0) as typeof process.stderr.write;
	const notices = [{ level: "warning" as const, text: "differ" }, { level: "info" as const, text: "joined" }];
	await world.open({ "session.open": opened({ notices }) });
	await world.main.emit("session_shutdown");
	process.stderr.write = write;
	expect(written).toEqual(["differ\n"]);
	expect(world.main.notices).toEqual([]);
});

test("a second Main in one process takes the session over", async () => {
	await world.open();
	const other = new Session();
	other.sessionId = "host-2";
	await other.emit("session_start");
	expect((await world.bridge.hears("session.open", 2)).sessionId).toBe("host-2");
	await other.emit("session_shutdown");
});
