import { afterEach, beforeEach, expect, test } from "bun:test";
import type { IrcMessage } from "../src/omp.ts";
import { sub, until, World } from "./support.ts";

let world: World;
beforeEach(() => {
	world = new World();
});
afterEach(() => world.end());

const MESSAGE = { id: "m1", to: "main", from: "B", text: "hello", startTurn: true };

/** The bridge delivers while it answers to `/coord`. */
async function delivers(...messages: object[]): Promise<void> {
	const say = messages.map(message => ["deliver", message]);
	world.bridge.answers({ "slash.run": { result: { text: "" }, say } });
	await world.main.command.handler("", world.main.ctx);
}

test("to Main: into its conversation, as an aside that starts a turn; acknowledged afterwards", async () => {
	await world.open();
	await delivers(MESSAGE);
	expect(world.main.sent).toEqual([
		[
			{ customType: "omp-coord", content: "hello", display: true, attribution: "agent", details: { id: "m1", from: "B" } },
			{ triggerTurn: true, deliverAs: "aside" },
		],
	]);
	expect(await world.bridge.hears("message.ack")).toEqual({ ids: ["m1"] });
});

test("what starts no turn waits for the next one while Main is idle", async () => {
	await world.open();
	await delivers({ ...MESSAGE, startTurn: false });
	world.main.idle = false;
	await delivers({ ...MESSAGE, id: "m2", startTurn: false });
	expect(world.main.sent.map(([, options]) => options.deliverAs)).toEqual(["nextTurn", "aside"]);
});

test("a message that comes again is acknowledged, not shown again", async () => {
	await world.open();
	await delivers(MESSAGE, MESSAGE);
	await world.bridge.hears("message.ack", 2);
	expect(world.main.sent).toHaveLength(1);
});

test("to a subagent that is there: through its own instance", async () => {
	await world.open();
	const w0 = sub("W0");
	await w0.emit("session_start");
	await delivers({ ...MESSAGE, to: "W0" });
	await world.bridge.hears("message.ack");
	expect([w0.sent.length, world.main.sent.length]).toEqual([1, 0]);
});

test("to one that is parked: it is brought back, never through the instance that was shut down", async () => {
	const got: IrcMessage[] = [];
	world.s.lifecycle = {
		ensureLive: async () => ({ deliverIrcMessage: async (message: IrcMessage) => got.push(message) }),
	};
	await world.open();
	const w0 = sub("W0");
	await w0.emit("session_start");
	await w0.emit("session_shutdown");
	await delivers({ ...MESSAGE, to: "W0" });
	await world.bridge.hears("message.ack");
	expect(w0.sent).toEqual([]);
	expect(got).toEqual([
		{ id: "m1", from: "B", to: "W0", body: "hello", ts: expect.any(Number), wakeRelay: true },
	]);
});

test("to a /tan clone, whose actions throw: the other way", async () => {
	let woken = "";
	world.s.lifecycle = {
		ensureLive: async id => {
			woken = id;
			return { deliverIrcMessage: async () => "injected" };
		},
	};
	await world.open();
	const tan = sub("Tan-1", { name: "sub" });
	tan.broken = true;
	await tan.emit("session_start");
	await tan.emit("agent_start");
	await delivers({ ...MESSAGE, to: "Tan-1" });
	await world.bridge.hears("message.ack");
	expect(woken).toBe("Tan-1");
});

test("to one that has ended for good: to Main, saying so", async () => {
	world.s.lifecycle = { ensureLive: () => Promise.reject(new Error("never registered")) };
	await world.open();
	await delivers({ ...MESSAGE, to: "Gone" });
	await world.bridge.hears("message.ack");
	expect(world.main.sent[0]?.[0].content).toContain("Gone");
	expect(world.main.sent[0]?.[0].content).toContain("hello");
});

test("what omp did not take is not acknowledged", async () => {
	await world.open();
	world.main.broken = true;
	await delivers(MESSAGE);
	world.main.broken = false;
	await delivers({ ...MESSAGE, id: "m2" });
	expect(await world.bridge.hears("message.ack")).toEqual({ ids: ["m2"] });
	expect(world.s.delivered.has("m1")).toBe(false);
});

test("a session that is opened again tells what its conversation has already", async () => {
	world.main.entries = [
		{ type: "custom_message", customType: "omp-coord", details: { id: "old", from: "B" } },
		{ type: "custom_message", customType: "other", details: { id: "not-ours" } },
		{ type: "message" },
		null,
	];
	await world.open();
	expect(world.bridge.heard("session.open")[0].shown).toEqual(["old"]);
	await delivers(MESSAGE);
	process.kill(world.s.connection?.pid ?? 0, "SIGKILL");
	expect((await world.bridge.hears("session.open", 2)).shown).toEqual(["m1", "old"]);
	await until(() => world.s.connection?.state === "open", "the bridge is back");
});
