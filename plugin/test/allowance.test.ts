import { afterEach, beforeEach, expect, test } from "bun:test";
import { setAllowance } from "../src/allowance.ts";
import { FakeSetting, opened, until, World } from "./support.ts";

let world: World;
let setting: FakeSetting;
beforeEach(() => {
	world = new World();
	setting = world.s.setting = new FakeSetting();
});
afterEach(() => world.end());

/** What omp's setting was written, value by value. */
function given(...allowances: (number | null)[]): unknown[] {
	for (const allowance of allowances) setAllowance(world.s, allowance);
	return setting.writes;
}

test("the session's opening, an answer and a notification each set it; the end clears it", async () => {
	await world.open({ "session.open": opened({ spawnQueue: { drive: true, allowance: 2, note: "" } }) });
	expect(setting.set).toBe(2);
	world.bridge.answers({ "slash.run": { result: { text: "" }, say: [["allowance", { value: 5, note: "" }]] } });
	await world.main.command.handler("", world.main.ctx);
	expect(setting.set).toBe(5);
	await world.main.emit("session_shutdown");
	expect(setting.writes).toEqual([2, 5, "clear"]);
});

test("only a change is written, truncated, at least 1", async () => {
	await world.open();
	expect(given(3, 3, 3.9, 0.5, 1)).toEqual([3, 1]);
});

test("null clears what was set, once; what was never set is not cleared", async () => {
	await world.open();
	expect(given(null)).toEqual([]);
	expect(given(2, null, null)).toEqual([2, "clear"]);
});

for (const layer of ["project", "global", "env", "overlay"]) {
	test(`the user's own number (${layer}) is a ceiling`, async () => {
		setting.own = { value: 4.7, layer };
		await world.open();
		expect(given(9, 2)).toEqual([4, 2]);
	});
}

for (const value of [0, -1, null, "many"]) {
	test(`the user's own ${value} is no ceiling`, async () => {
		setting.own = { value, layer: "global" };
		await world.open();
		expect(given(9)).toEqual([9]);
	});
}

test("the default is no ceiling, nor is the one that omp pins in RPC mode", async () => {
	setting.own = { value: 32, layer: "runtime" };
	await world.open();
	expect(given(40, null)).toEqual([40, "clear"]);
});

test("another's run-time override is put back", async () => {
	setting.own = { value: 7, layer: "runtime" };
	await world.open();
	expect(given(2, null)).toEqual([2, 7]);
});

test("what somebody else has set since is left alone", async () => {
	await world.open();
	given(2);
	setting.set = 11;
	expect(given(null)).toEqual([2]);
	expect(setting.set).toBe(11);
});

test("a change of the user's own number counts from the next session", async () => {
	setting.own = { value: 3, layer: "global" };
	await world.open();
	given(9);
	setting.own = { value: 5, layer: "global" };
	expect(given(8)).toEqual([3]);
	world.main.sessionId = "host-2";
	await world.main.emit("session_switch", { reason: "new" });
	await until(() => world.s.opened !== null, "the next session");
	expect(given(8)).toEqual([3, "clear", 5]);
});

test("an omp without such a setting says so, once", async () => {
	world.s.setting = null;
	await world.open();
	expect((await world.bridge.hears("spawnQueue.unsized")).reason).toContain("task.maxConcurrency");
	expect(given(2, 3)).toEqual([]);
	expect(world.bridge.heard("spawnQueue.unsized")).toHaveLength(1);
});

test("a failure is told to the bridge once and changes no answer", async () => {
	setting.override = () => {
		throw new Error("no such value");
	};
	await world.open();
	world.bridge.answers({ "spawn.request": { result: { allowed: true, coordinated: true, allowance: 2 } } });
	expect(await world.main.spawn()).toBeUndefined();
	expect(await world.main.spawn()).toBeUndefined();
	expect((await world.bridge.hears("spawnQueue.unsized")).reason).toContain("no such value");
	expect(world.bridge.heard("spawnQueue.unsized")).toHaveLength(1);
});

test("a bridge that is away keeps it; one that does not come back gives omp's queue back", async () => {
	await world.open();
	given(2);
	world.bridge.answers({ "session.open": { die: true } });
	process.kill(world.s.connection?.pid ?? 0, "SIGKILL");
	await until(() => world.s.connection?.state === "down", "the bridge is gone");
	expect(setting.set).toBe(2);
	await until(() => setting.set === null, "it is cleared");
}, 30_000);
