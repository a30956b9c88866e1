import { afterEach, beforeEach, expect, test } from "bun:test";
import { ALLOWED, opened, sub, until, World } from "./support.ts";

let world: World;
beforeEach(() => {
	world = new World();
});
afterEach(() => world.end());

const REFUSED = { ...ALLOWED, allowed: false, reason: "omp-coord: nothing was started", cause: "full", place: 1 };

test("an approved spawn goes on, and the bridge is asked in the words of the protocol", async () => {
	await world.open();
	expect(await world.main.spawn("task", "W0")).toBeUndefined();
	expect(world.bridge.heard("spawn.request")).toEqual([
		{ parent: { id: "Main", kind: "main" }, type: "task", invocation: "task", key: "W0" },
	]);
});

test("a refused spawn is blocked with the bridge's reason", async () => {
	await world.open({ "spawn.request": { result: REFUSED } });
	expect(await world.main.spawn()).toEqual({ block: true, reason: "omp-coord: nothing was started" });
});

test("a spawn of a subagent names it as the parent", async () => {
	await world.open();
	await sub("W0").spawn("reviewer");
	expect(world.bridge.heard("spawn.request")[0].parent).toEqual({ id: "W0", kind: "sub" });
});

test("a key that is no id (synchronous omp: tool call and index) is not sent as one", async () => {
	await world.open();
	await world.main.spawn("task", "call_7:0");
	expect(world.bridge.heard("spawn.request")[0]).not.toHaveProperty("key");
});

test("a spawn before the session is open waits for it", async () => {
	const start = world.main.emit("session_start");
	const spawn = world.main.spawn();
	expect(world.s.connection?.state).toBe("opening");
	await start;
	expect(await spawn).toBeUndefined();
	expect(world.bridge.order().slice(0, 2)).toEqual(["session.open", "spawn.request"]);
	expect(world.main.notice("error")).toBeUndefined();
});

test("a session that does not open keeps a spawn for 5 s, then it goes on with one error notice", async () => {
	world.bridge.answers({ "session.open": { silent: true } });
	await world.main.emit("session_start");
	const asked = Date.now();
	expect(await Promise.all([world.main.spawn(), world.main.spawn()])).toEqual([undefined, undefined]);
	expect(Date.now() - asked).toBeWithin(4_800, 9_000);
	expect(world.main.notices.filter(([level]) => level === "error")).toHaveLength(1);
}, 30_000);

test("while the bridge is away spawns go on with one error notice, and are asked again when it is back", async () => {
	await world.open();
	process.kill(world.s.connection?.pid ?? 0, "SIGKILL");
	await until(() => world.s.connection?.state === "down", "the bridge is gone");
	expect(await world.main.spawn()).toBeUndefined();
	expect(await world.main.spawn()).toBeUndefined();
	expect(world.main.notices.filter(([level]) => level === "error")).toHaveLength(1);
	await until(() => world.s.connection?.state === "open", "the bridge is back");
	world.bridge.answers({ "spawn.request": { result: REFUSED } });
	expect(await world.main.spawn()).toEqual({ block: true, reason: REFUSED.reason });
});

test("a bridge that dies over a question lets the spawn go on", async () => {
	await world.open({ "spawn.request": { die: true } });
	expect(await world.main.spawn()).toBeUndefined();
	expect(world.main.notice("error")).toContain("the bridge is missing");
	world.bridge.answers({ "spawn.request": { error: { code: -32603, message: "a fault" } } });
	await until(() => world.s.connection?.state === "open", "the bridge is back");
	expect(await world.main.spawn()).toBeUndefined();
});

test("a bridge that stood still is told of when it answers again, and missed again the next time", async () => {
	await world.open({ "spawn.request": { error: { code: -32603, message: "as if it took too long" } } });
	await until(() => world.main.notices.length === 1, "the join");
	for (const errors of [1, 2]) {
		world.bridge.answers({ "spawn.request": { error: { code: -32603, message: "as if it took too long" } } });
		await world.main.spawn();
		await world.main.spawn();
		expect(world.main.notices.filter(([level]) => level === "error")).toHaveLength(errors);
		world.bridge.answers({ "spawn.request": { result: ALLOWED } });
		await world.main.spawn();
		await world.main.spawn();
		await until(() => world.main.notices.filter(([, text]) => text.includes("answers again")).length === errors, "it is back");
	}
});

test("without a session nothing is asked", async () => {
	expect(await world.main.spawn()).toBeUndefined();
	expect(world.bridge.order()).toEqual([]);
});

test("the answer carries the allowance", async () => {
	world.s.setting = null;
	await world.open({ "session.open": opened() });
	world.bridge.answers({ "spawn.request": { result: { ...ALLOWED, allowance: 3 } } });
	await world.main.spawn();
	expect(world.s.queue.wanted).toBe(3);
});
