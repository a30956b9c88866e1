// `/coord`: what it can do, what completes it and what it says all come from the bridge.

import { ask } from "./bridge.ts";
import type { Completion, Context, Pi } from "./omp.ts";
import { shared } from "./state.ts";
import { COMMAND, NO_ANSWER } from "./texts.ts";
import { answers, noBridge } from "./tools.ts";
import { print } from "./ui.ts";

/** For completions, which omp waits for; as for commands, tests wait longer. */
export const patience = { ms: 500 };

export function registerSlash(pi: Pi): void {
	pi.registerCommand("coord", { description: COMMAND, getArgumentCompletions: complete, handler: run });
}

async function run(args: string, ctx: Context): Promise<void> {
	print(shared(), ctx, await text(args));
}

async function text(args: string): Promise<string> {
	try {
		const result = await ask(connection => connection.request("slash.run", { args }, answers.ms));
		return result === null ? noBridge() : result.text;
	} catch {
		return NO_ANSWER;
	}
}

/** The bridge completes; while there is none, its list of words does. */
async function complete(prefix: string): Promise<Completion[] | null> {
	const { connection, commands } = shared();
	if (connection?.state === "open") {
		try {
			return (await connection.request("slash.complete", { prefix }, patience.ms)).items;
		} catch {} // it has just gone
	}
	const typed = prefix.trimStart();
	const found = commands.filter(({ name }) => name.startsWith(typed) && name !== typed);
	return found.map(({ name, description }) => ({ value: name, label: name, description }));
}
