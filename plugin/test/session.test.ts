import { afterEach, beforeEach, expect, test } from "bun:test";
import { VERSION } from "../src/version.ts";
import { alive, FakeRegistry, inactive, opened, Session, sub, until, World } from "./support.ts";

let world: World;
beforeEach(() => {
	world = new World();
});
afterEach(() => world.end());

test("the factory only registers: no process, no timer, no setting is read", () => {
	expect(world.bridge.heard("started")).toEqual([]);
	expect([...world.main.handlers.keys()].sort()).toEqual([
		"agent_end",
		"agent_start",
		"before_subagent_spawn",
		"session_branch",
		"session_shutdown",
		"session_start",
		"session_switch",
		"tool_call",
		"turn_start",
	]);
});

test("Main's start opens the session when omp has time; a subagent's start opens none", async () => {
	await sub("W0").emit("session_start");
	await world.main.emit("session_start");
	expect(world.s.connection).toBeNull(); // omp's own start goes on
	const told = await world.bridge.hears("session.open");
	expect(told).toEqual({
		protocol: 1,
		cwd: process.cwd(),
		host: { name: "omp", version: "18.3.4", plugin: VERSION },
		sessionId: "host-1",
		pid: process.pid,
		agents: [],
		shown: [],
	});
});

test("the first turn starts the bridge, when its prompt is out; a session that ends before has none", async () => {
	await world.main.emit("session_start");
	await world.main.emit("turn_start");
	await world.main.emit("session_shutdown");
	await world.main.emit("session_start");
	await world.main.emit("turn_start");
	expect(world.s.connection).toBeNull(); // the prompt is being sent
	await until(() => world.s.connection, "the bridge is started");
	await world.main.emit("turn_start");
	await world.bridge.hears("session.open");
	expect(world.bridge.heard("started")).toHaveLength(1);
});

test("a question starts the bridge and waits for it", async () => {
	world.bridge.answers({ "command.check": { result: { action: "refuse", reason: "no" } } });
	world.bridge.answers({ "spawn.request": { result: { allowed: false, coordinated: true, reason: "no", used: 1, allowance: null } } });
	const bash = { toolName: "bash", input: { command: "make" } };
	for (const question of [() => world.main.spawn(), () => world.main.emit("tool_call", bash)]) {
		await world.main.emit("session_start");
		expect(await question()).toMatchObject({ block: true, reason: "no" });
		await world.main.emit("session_shutdown");
	}
});

test("what opening brings is taken up, and taken back at the end", async () => {
	await world.open();
	expect(process.env["OMP_COORD_SESSION"]).toBe("s1");
	expect(world.main.footers).toEqual(["coord A"]);
	expect([...world.main.tools.keys()]).toEqual(["coord_status"]);
	await until(() => world.main.notice("info") === "session A of app", "the notice");
	const pid = world.s.connection?.pid ?? 0;
	await world.main.emit("session_shutdown");
	expect(process.env["OMP_COORD_SESSION"]).toBeUndefined();
	expect(world.main.footers).toEqual(["coord A", undefined]);
	await until(() => !alive(pid), "the bridge has ended"); // omp waits a second for it
	expect(world.bridge.heard("session.close")).toEqual([{ reason: "exit" }]);
});

test("info notices that come together are one, for omp overwrites consecutive ones", async () => {
	const notices = ["one", "two"].map(text => ({ level: "info" as const, text }));
	await world.open({ "session.open": opened({ notices: [...notices, { level: "warning", text: "three" }] }) });
	await until(() => world.main.notices.length === 2, "both notices");
	expect(world.main.notices).toEqual([
		["warning", "three"],
		["info", "one\ntwo"],
	]);
});

for (const [reason, told] of [
	["new", "new"],
	["resume", "switch"],
	["fork", "branch"],
] as const) {
	test(`a switch (${reason}) closes the session and opens the next on the same bridge`, async () => {
		await world.open();
		world.main.sessionId = "host-2";
		await world.main.emit("session_switch", { reason });
		await world.bridge.hears("session.open", 2);
		expect(world.bridge.order()).toEqual(["session.open", "session.close", "session.open"]);
		expect(world.bridge.heard("session.close")).toEqual([{ reason: told }]);
		expect(world.bridge.heard("session.open")[1].sessionId).toBe("host-2");
		expect(world.bridge.heard("started")).toHaveLength(1);
	});
}

test("a branch does the same", async () => {
	await world.open();
	world.main.sessionId = "host-2";
	await world.main.emit("session_branch");
	await world.bridge.hears("session.open", 2);
	expect(world.bridge.heard("session.close")).toEqual([{ reason: "branch" }]);
});

test("a conversation that went to another folder (/move) is opened there at its next turn, with what runs", async () => {
	await world.open();
	await sub("W0").emit("agent_start");
	await world.main.emit("turn_start");
	world.main.ctx.cwd = "/elsewhere";
	await world.main.emit("turn_start");
	await world.main.emit("turn_start");
	await world.bridge.hears("session.open", 2);
	expect(world.bridge.order()).toEqual(["session.open", "agent.started", "session.open"]);
	expect(world.bridge.heard("session.open")[1]).toMatchObject({ cwd: "/elsewhere", sessionId: "host-1" });
	expect(world.bridge.heard("started")).toHaveLength(1);
});

test("one that found no configuration is opened where it went to", async () => {
	await world.open({ "session.open": inactive("noConfig", "no file") });
	await until(() => world.s.connection === null, "the bridge has ended");
	world.bridge.answers({ "session.open": opened() });
	world.main.ctx.cwd = "/elsewhere";
	await world.main.emit("turn_start");
	await until(() => world.s.opened, "the session is open");
	expect(world.bridge.heard("session.open")[1].cwd).toBe("/elsewhere");
});

test("loading the same conversation anew is no switch", async () => {
	await world.open();
	await world.main.emit("session_switch", { reason: "resume" });
	await world.main.spawn();
	expect(world.bridge.order()).toEqual(["session.open", "spawn.request"]);
});

test("after a switch, late ends of the old session's agents are not told; what runs on is the new one's", async () => {
	const registry = (world.s.registry = new FakeRegistry());
	await world.open();
	const subs = [sub("Dies"), sub("Stays")];
	for (const each of subs) await each.emit("agent_start");
	registry.refs.set("Stays", { id: "Stays", displayName: "task", kind: "sub", parentId: "Main", runs: true });
	world.main.sessionId = "host-2";
	await world.main.emit("session_switch", { reason: "new" });
	const { agents } = await world.bridge.hears("session.open", 2);
	expect(agents.map(({ id }: { id: string }) => id)).toEqual(["Stays"]);
	await subs[0]?.emit("agent_end", {});
	await subs[1]?.emit("agent_end", {});
	await world.main.spawn();
	expect(world.bridge.heard("agent.ended")).toEqual([{ session: "host-2", id: "Stays" }]);
});

test("a start whose shutdown comes before the answer gives up, and the next start is a fresh one", async () => {
	await world.main.emit("session_start");
	await world.main.emit("session_shutdown");
	expect(process.env["OMP_COORD_SESSION"]).toBeUndefined();
	expect(world.main.footers).toEqual([]);
	expect(world.s.connection).toBeNull();
	await world.open();
	expect(world.bridge.heard("started").length).toBeLessThanOrEqual(2);
	expect(process.env["OMP_COORD_SESSION"]).toBe("s1");
});

test("the shutdown of an instance that was replaced does not end the session", async () => {
	await world.open();
	const reloaded = new Session();
	await reloaded.emit("session_start");
	await world.main.emit("session_shutdown");
	expect(world.s.connection?.state).toBe("open");
	expect([...reloaded.tools.keys()]).toEqual(["coord_status"]);
	await reloaded.emit("session_shutdown");
});

test("a plugin that is loaded twice into one session speaks once", async () => {
	const twice = new Session();
	twice.ctx.sessionManager = world.main.ctx.sessionManager;
	await world.open();
	await twice.emit("session_start");
	await Promise.all([world.main.spawn(), twice.spawn()]);
	const agents = [sub("W0"), sub("W0")];
	agents[1]!.ctx.sessionManager = agents[0]!.ctx.sessionManager;
	for (const event of ["session_start", "agent_start", "agent_end"] as const)
		for (const agent of agents) await agent.emit(event, {});
	await twice.emit("session_shutdown");
	await world.main.spawn();
	expect(world.bridge.order().slice(1)).toEqual(["spawn.request", "agent.started", "agent.ended", "spawn.request"]);
});

test("no file: no word, no footer, no process left; /coord asks anew and says why", async () => {
	await world.open({ "session.open": inactive("noConfig", "no .omp-coord.json") });
	await world.bridge.hears("ended");
	expect([world.main.notices, world.main.footers, world.s.connection]).toEqual([[], [], null]);
	expect([...world.main.tools.keys()]).toEqual(["coord_status"]);
	expect(await world.main.spawn()).toBeUndefined();
	world.bridge.answers({ "slash.run": { result: { text: "not active: no file" } } });
	await world.main.command.handler("", world.main.ctx);
	expect(world.main.notices).toEqual([["info", "not active: no file"]]);
	await world.bridge.hears("ended", 2);
});

test("an invalid file: one error notice, spawns go on, and the session joins when the bridge says so", async () => {
	await world.open({ "session.open": inactive("badConfig", "line 3: cap") });
	expect(world.main.notices).toEqual([["error", "omp-coord: line 3: cap"]]);
	expect(world.s.connection?.state).toBe("open");
	world.bridge.answers({ "slash.run": { result: { text: "" }, say: [["joined", opened().result]] } });
	await world.main.command.handler("", world.main.ctx);
	expect(process.env["OMP_COORD_SESSION"]).toBe("s1");
	expect(world.main.footers).toEqual(["coord A"]);
});

test("a missing command: one notice with the line to type, spawns go on, /coord and coord_status say why", async () => {
	process.env["OMP_COORD_BIN"] = "/nowhere/omp-coord";
	await world.main.emit("session_start");
	await until(() => world.s.apart === "missing", "it is seen to be missing");
	expect(world.main.notice("error")).toContain("pip install omp-coord");
	expect(await world.main.spawn()).toBeUndefined();
	await world.main.command.handler("", world.main.ctx);
	expect(world.main.notice("info")).toContain("pip install omp-coord");
	const answer = await world.main.tools.get("coord_status")?.execute("1", {}, undefined, undefined, world.main.ctx);
	expect(answer?.isError).toBe(true);
	expect(world.main.notices.filter(([level]) => level === "error")).toHaveLength(1);
});

test("without OMP_COORD_BIN the command is found on PATH", async () => {
	const path = process.env["PATH"];
	delete process.env["OMP_COORD_BIN"];
	process.env["PATH"] = `${world.bridge.folder}:${path}`;
	await world.open();
	process.env["PATH"] = path;
	expect(world.bridge.heard("session.open")).toHaveLength(1);
});

test("an older copy's state is completed, not replaced", async () => {
	const key = Symbol.for("omp-coord.plugin");
	const holder = globalThis as { [key]?: object };
	const now = holder[key];
	const older = (holder[key] = { live: new Map([["W0", "kept"]]) });
	const copy = await import(`../src/state.ts?copy=${Date.now()}`);
	const adopted = copy.shared();
	holder[key] = now ?? {};
	expect(adopted).toBe(older);
	expect(adopted.live.get("W0")).toBe("kept");
	expect(adopted.running).toBeInstanceOf(Map);
});
