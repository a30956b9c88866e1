import { afterEach, beforeEach, expect, test } from "bun:test";
import { patience } from "../src/bash.ts";
import type { ToolCallAnswer } from "../src/omp.ts";
import { sub, until, World } from "./support.ts";

let world: World;
beforeEach(() => {
	world = new World();
});
afterEach(() => world.end());

function bash(input: Record<string, unknown>, toolName = "bash"): Promise<ToolCallAnswer | undefined> {
	return sub("W0").emit("tool_call", { toolName, input });
}

async function open(result: object): Promise<void> {
	await world.open({ "command.check": { result } });
}

test("the bridge is asked with the agent, the command and the folder in which it runs", async () => {
	await open({ action: "run" });
	expect(await bash({ command: "make", timeout: 5 })).toBeUndefined();
	await bash({ command: "make", cwd: "/elsewhere" });
	const asked = { agent: "W0", kind: "sub", tool: "bash", command: "make" };
	expect(world.bridge.heard("command.check")).toEqual([
		{ ...asked, cwd: process.cwd() },
		{ ...asked, cwd: "/elsewhere" },
	]);
});

test("another command runs in its place, with everything else of the call", async () => {
	await open({ action: "run", command: "omp-coord run lint -- make" });
	expect(await bash({ command: "make", timeout: 5 })).toEqual({
		input: { command: "omp-coord run lint -- make", timeout: 5 },
	});
});

test("the same command is no change", async () => {
	await open({ action: "run", command: "make" });
	expect(await bash({ command: "make" })).toBeUndefined();
});

test("a refused command is blocked with the reason", async () => {
	await open({ action: "refuse", reason: "branch claimed by B", context: "ask B" });
	expect(await bash({ command: "git push" })).toEqual({
		block: true,
		reason: "branch claimed by B",
		additionalContext: "ask B",
	});
});

test("context goes to the model beside a command that runs as it is", async () => {
	await open({ action: "run", context: "use omp-coord run" });
	expect(await bash({ command: "make" })).toEqual({ additionalContext: "use omp-coord run" });
});

test("other tools, and calls without a command, are none of it", async () => {
	await open({ action: "refuse", reason: "no" });
	expect(await bash({ path: "x" }, "read")).toBeUndefined();
	expect(await bash({})).toBeUndefined();
	expect(world.bridge.heard("command.check")).toEqual([]);
});

for (const [what, answer] of [
	["is silent", { silent: true }],
	["does not know the method", { error: { code: -32601, message: "unknown method" } }],
	["has a fault", { error: { code: -32603, message: "a fault" } }],
	["dies", { die: true }],
	["answers with something else", { result: null }],
] as const) {
	test(`a bridge that ${what} lets the command run within a second and a bit`, async () => {
		await world.open({ "command.check": answer });
		const [asked, tests] = [Date.now(), patience.ms];
		patience.ms = 1_000;
		expect(await bash({ command: "make" })).toBeUndefined();
		patience.ms = tests;
		expect(Date.now() - asked).toBeLessThan(6_000); // and not after the patience of tests
		if (what === "dies") await until(() => world.s.connection?.state === "open", "the bridge is back");
	});
}

test("without a bridge the command runs", async () => {
	expect(await bash({ command: "make" })).toBeUndefined();
});
