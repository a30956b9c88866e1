import { afterEach, beforeEach, expect, test } from "bun:test";
import { FakeRegistry, sub, until, World } from "./support.ts";

let world: World;
beforeEach(() => {
	world = new World();
});
afterEach(() => world.end());

const MAIN = { id: "Main", kind: "main" };
const started = { "agent.started": { result: { allowance: null } } };

test("starts and ends are told with the session that they belong to", async () => {
	await world.open(started);
	const w0 = sub("W0");
	await w0.emit("session_start");
	await w0.emit("agent_start");
	await w0.emit("agent_end", {});
	await world.bridge.hears("agent.ended");
	expect(world.bridge.heard("agent.started")).toEqual([{ session: "host-1", id: "W0", parent: MAIN, type: "task" }]);
	expect(world.bridge.heard("agent.ended")).toEqual([{ session: "host-1", id: "W0" }]);
});

test("the line of an end is written before the handler returns, so the next spawn is asked after it", async () => {
	await world.open();
	const w0 = sub("W0");
	void w0.emit("agent_start");
	void w0.emit("agent_end", {});
	await world.main.spawn();
	expect(world.bridge.order().slice(1)).toEqual(["agent.started", "agent.ended", "spawn.request"]);
});

test("a retry is no end", async () => {
	await world.open();
	const w0 = sub("W0");
	await w0.emit("agent_start");
	await w0.emit("agent_end", { willContinue: true });
	await world.main.spawn();
	expect(world.bridge.heard("agent.ended")).toEqual([]);
	expect([...world.s.running.keys()]).toEqual(["W0"]);
});

test("Main's own turns are no agents", async () => {
	await world.open();
	await world.main.emit("agent_start");
	await world.main.emit("agent_end", {});
	await world.main.spawn();
	expect(world.bridge.order()).toEqual(["session.open", "spawn.request"]);
});

test("a /tan clone is of type sub and has Main for its parent; a nested agent its own", async () => {
	await world.open();
	await sub("Tan-1", { name: "sub" }).emit("agent_start");
	await sub("W0.R", { name: "reviewer", parentId: "W0" }).emit("agent_start");
	await world.bridge.hears("agent.started", 2);
	expect(world.bridge.heard("agent.started").map(({ type, parent }) => [type, parent])).toEqual([
		["sub", MAIN],
		["reviewer", { id: "W0", kind: "sub" }],
	]);
});

test("an agent whose session is shut down while it runs has ended", async () => {
	await world.open();
	const w0 = sub("W0");
	await w0.emit("agent_start");
	await w0.emit("session_shutdown");
	expect((await world.bridge.hears("agent.ended")).id).toBe("W0");
});

test("the shutdown of an earlier life does not touch the agent that was revived under its id", async () => {
	await world.open();
	const [old, revived] = [sub("W0"), sub("W0")];
	await old.emit("agent_start");
	await old.emit("agent_end", {});
	await revived.emit("session_start");
	await revived.emit("agent_start");
	await old.emit("session_shutdown");
	await world.main.spawn();
	expect(world.bridge.heard("agent.ended")).toHaveLength(1);
	expect(world.s.live.get("W0")?.pi).toBe(revived.pi);
	expect(world.s.running.has("W0")).toBe(true);
});

test("the warning of a start over the cap is shown", async () => {
	await world.open({ "agent.started": { result: { warning: "over its cap by 1", allowance: null } } });
	await sub("W0").emit("agent_start");
	await until(() => world.main.notice("warning") === "over its cap by 1", "the warning");
});

test("a bridge that was restarted is told of all that runs", async () => {
	await world.open();
	await sub("W0").emit("agent_start");
	const w1 = sub("W1");
	await w1.emit("agent_start");
	await w1.emit("agent_end", {});
	await world.bridge.hears("agent.ended");
	process.kill(world.s.connection?.pid ?? 0, "SIGKILL");
	const again = await world.bridge.hears("session.open", 2);
	expect(again.agents).toEqual([{ id: "W0", type: "task", parent: MAIN, since: expect.any(Number) }]);
	expect(again.sessionId).toBe("host-1");
	expect(again.pid).toBe(process.pid);
});

test("an agent that stops with no event to tell of it is missed at once, and is gone from two lists", async () => {
	const registry = (world.s.registry = new FakeRegistry());
	await world.open();
	await until(() => world.s.stops.length > 0, "the registry is watched");
	await sub("W0").emit("agent_start");
	registry.now("W0", true);
	registry.now("W0", false);
	await world.bridge.hears("agents.sync", 2);
	expect(world.bridge.heard("agents.sync")).toEqual([{ agents: [] }, { agents: [] }]);
	expect(world.s.running.size).toBe(0);
});

test("an agent that the registry runs and no event told of is listed; advisors and Main are not", async () => {
	const registry = (world.s.registry = new FakeRegistry());
	await world.open();
	await until(() => world.s.stops.length > 0, "the registry is watched");
	registry.now("Main", true, { kind: "main" });
	registry.now("Advisor", true, { kind: "advisor" });
	registry.now("W7", true);
	registry.now("Tan-1", true, { displayName: "tan" });
	const { agents } = await world.bridge.hears("agents.sync");
	expect(agents.map(({ id, type }: { id: string; type: string }) => [id, type])).toEqual([
		["W7", "task"],
		["Tan-1", "sub"],
	]);
});

test("one surprise does not hide the next", async () => {
	const registry = (world.s.registry = new FakeRegistry());
	await world.open();
	await until(() => world.s.stops.length > 0, "the registry is watched");
	registry.now("W7", true);
	await world.bridge.hears("agents.sync", 2);
	registry.now("W7", false);
	const last = await world.bridge.hears("agents.sync", 4);
	expect(last.agents).toEqual([]);
});

test("an end of an earlier life does not end the agent that runs under its id", async () => {
	await world.open();
	const [old, revived] = [sub("W0"), sub("W0")];
	await old.emit("agent_start");
	await revived.emit("agent_start");
	await old.emit("agent_end", {});
	await world.main.spawn();
	expect(world.bridge.heard("agent.ended")).toEqual([]);
});

test("a change that its event explains needs no list", async () => {
	const registry = (world.s.registry = new FakeRegistry());
	await world.open();
	await until(() => world.s.stops.length > 0, "the registry is watched");
	registry.now("W0", true);
	await sub("W0").emit("agent_start");
	await Bun.sleep(300); // nothing can be waited for: that nothing comes is what is seen
	expect(world.bridge.heard("agents.sync")).toEqual([]);
});
