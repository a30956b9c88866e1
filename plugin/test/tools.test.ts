import { afterEach, beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import { TOOLS as OFFERED } from "../src/offered.ts";
import type { ToolAnswer } from "../src/omp.ts";
import { answers, expectedTools } from "../src/tools.ts";
import { opened, type Session, sub, until, World } from "./support.ts";

let world: World;
beforeEach(() => {
	world = new World();
});
afterEach(() => world.end());

const TOOLS = [
	{ name: "coord_status", description: "Shows", schema: { type: "object" } },
	{ name: "coord_later", description: "Not thought of yet", schema: { type: "object", properties: { a: {} } } },
];

function call(session: Session, name: string, args: Record<string, unknown> = {}): Promise<ToolAnswer> | undefined {
	return session.tools.get(name)?.execute("1", args, undefined, undefined, session.ctx);
}

test("tools come from the bridge's list, those of a later bridge too; subagents have them as well", async () => {
	await world.open({ "session.open": opened({ tools: TOOLS }) });
	for (const session of [world.main, sub("W0")]) {
		const later = session.tools.get("coord_later");
		expect([later?.description, later?.parameters]).toEqual(["Not thought of yet", TOOLS[1]?.schema as never]);
		expect([later?.loadMode, later?.approval]).toEqual(["essential", "read"]);
	}
});

test("with a configuration file at hand they are there before omp makes its prompt, and none comes twice", async () => {
	expect([...world.main.tools.keys()]).toEqual(["coord_status"]); // no file here
	await world.end();
	world = new World(true, true);
	const known = [...world.main.tools];
	expect(known.map(([name]) => name)).toEqual(OFFERED.map(tool => tool.name));
	const [first, ...others] = OFFERED;
	await world.open({ "session.open": opened({ tools: [{ ...first!, description: "Otherwise" }, ...others] }) });
	expect(world.main.tools.get("coord_status")?.description).toBe("Otherwise");
	expect([...world.main.tools.values()].slice(1).every((tool, n) => tool === known[n + 1]?.[1])).toBe(true);
});

test("a call goes to the bridge with the agent that made it", async () => {
	await world.open({ "session.open": opened({ tools: TOOLS }), "tool.call": { result: { text: "done", isError: false } } });
	expect(await call(sub("W0"), "coord_later", { a: 1 })).toEqual({ content: [{ type: "text", text: "done" }] });
	expect(world.bridge.heard("tool.call")).toEqual([{ agent: "W0", name: "coord_later", args: { a: 1 } }]);
});

test("an error is one for the model", async () => {
	await world.open({ "tool.call": { result: { text: "not possible", isError: true } } });
	expect(await call(world.main, "coord_status")).toEqual({ content: [{ type: "text", text: "not possible" }], isError: true });
});

test("while the bridge is away a tool says so, and /coord too", async () => {
	await world.open();
	process.kill(world.s.connection?.pid ?? 0, "SIGKILL");
	await until(() => world.s.connection?.state === "down", "the bridge is gone");
	expect((await call(world.main, "coord_status"))?.content[0]?.text).toContain("the bridge is missing at the moment");
	await world.main.command.handler("", world.main.ctx);
	expect(world.main.notices.at(-1)?.[1]).toContain("the bridge is missing at the moment");
	await until(() => world.s.connection?.state === "open", "the bridge is back");
});

test("a bridge that stands still keeps neither an agent nor /coord for ever", async () => {
	await world.open({ "tool.call": { silent: true }, "slash.run": { silent: true } });
	const { ms } = answers;
	answers.ms = 50;
	try {
		expect((await call(world.main, "coord_status"))?.content[0]?.text).toContain("does not answer");
		await world.main.command.handler("", world.main.ctx);
		expect(world.main.notices.at(-1)?.[1]).toContain("does not answer");
	} finally {
		answers.ms = ms;
	}
});

test("a file above the home folder is not expected to be believed", async () => {
	const before = process.env["HOME"];
	await world.end();
	try {
		for (const [home, tools] of [["project", 1], [".", OFFERED.length]] as const) {
			world = new World(true, true);
			process.env["HOME"] = join(world.bridge.folder, home);
			expect(expectedTools()).toHaveLength(tools);
			await world.end();
		}
	} finally {
		process.env["HOME"] = before ?? "";
		world = new World();
	}
});

test("/coord prints one notice, of several lines", async () => {
	await world.open({ "slash.run": { result: { text: "one\n\n```\ntwo\n```" } } });
	await until(() => world.main.notices.length === 1, "the join");
	await world.main.command.handler("agents", world.main.ctx);
	expect(world.bridge.heard("slash.run")).toEqual([{ args: "agents" }]);
	expect(world.main.notices.slice(1)).toEqual([["info", "one\n\ntwo"]]);
});

test("completions are the bridge's; while there is none, its words are", async () => {
	const items = [{ value: "leave work", label: "work", description: "this line" }];
	await world.open({ "slash.complete": { result: { items } } });
	expect(await world.main.command.getArgumentCompletions("leave ")).toEqual(items);
	await world.main.emit("session_shutdown");
	const words = await world.main.command.getArgumentCompletions("pa");
	expect(words).toEqual([{ value: "pause", label: "pause", description: "pause all" }]);
	expect(await world.main.command.getArgumentCompletions("pause")).toEqual([]);
});
