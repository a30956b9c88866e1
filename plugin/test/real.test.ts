// The plugin with the real bridge: OMP_COORD_REAL is the command, OMP_COORD_REAL_CWD a folder with a pool `work` of two
// slots. tests/plugin runs this.

import { afterEach, beforeEach, expect, test } from "bun:test";
import { freshState, Session, sub, until } from "./support.ts";

const s = freshState();
let main: Session;
let count = 0;

beforeEach(async () => {
	freshState();
	process.env["OMP_COORD_BIN"] = process.env["OMP_COORD_REAL"];
	main = new Session();
	main.sessionId = `real-${++count}`;
	main.ctx.cwd = process.env["OMP_COORD_REAL_CWD"] ?? "";
	await main.emit("session_start");
	await until(() => s.opened, "the session is open");
});
afterEach(() => main.emit("session_shutdown"));

test("two agents start, the third is refused with a reason for the model, and starts when one has ended", async () => {
	const agents = ["W0", "W1"].map(id => sub(id));
	for (const agent of agents) {
		expect(await main.spawn("task", agent.agent.id)).toBeUndefined();
		await agent.emit("agent_start");
	}
	const refused = await main.spawn("task", "W2");
	expect(refused?.block).toBe(true);
	expect(refused?.reason).toStartWith("omp-coord: nothing was started: the pool work is full, 2/2 used");
	await until(() => main.notice("warning")?.startsWith("refused: task for Main"), "the user's notice");
	await agents[0]?.emit("agent_end", {});
	expect(await main.spawn("task", "W2")).toBeUndefined();
});

test("a bridge that is killed comes back with what runs, and the cap holds", async () => {
	for (const id of ["W0", "W1"]) {
		await main.spawn("task", id);
		await sub(id).emit("agent_start");
	}
	await main.spawn("task", "W9"); // every line before this answer was carried out
	process.kill(s.connection?.pid ?? 0, "SIGKILL");
	await until(() => s.connection?.state === "down", "the bridge is gone");
	await until(() => s.connection?.state === "open", "the bridge is back");
	expect((await main.spawn("task", "W2"))?.block).toBe(true);
});

test("footer, environment, tool and /coord", async () => {
	await until(() => main.footers.at(-1)?.includes("work 0/2"), "the footer");
	expect(process.env["OMP_COORD_SESSION"]).toBe(s.opened?.session ?? "");
	const answer = await main.tools.get("coord_status")?.execute("1", {}, undefined, undefined, main.ctx);
	expect(answer?.content[0]?.text).toContain("This is session A");
	await main.command.handler("help", main.ctx);
	expect(main.notices.at(-1)?.[1]).toContain("/coord pause");
	const items = await main.command.getArgumentCompletions("leave w");
	expect(items?.map(item => item.value)).toEqual(["leave work"]);
});

test("an alone session's allowance is the pool's free slots", async () => {
	await until(() => s.queue.wanted === 2, "two may run");
	await main.spawn("task", "W0");
	await sub("W0").emit("agent_start");
	await until(() => s.queue.wanted === 2, "one runs and one is free");
});
