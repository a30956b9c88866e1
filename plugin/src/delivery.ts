// Words from other sessions and from the board, into the conversation that they are for. Acknowledged once omp has taken
// them; what is not acknowledged comes again with the next `session.open`.

import { whenAnswered } from "./client.ts";
import type { IrcMessage, Lifecycle } from "./omp.ts";
import type { Deliver } from "./protocol.ts";
import { type Instance, type Shared, shared } from "./state.ts";
import { forEnded } from "./texts.ts";

const TYPE = "omp-coord";
const MOST_IDS = 2_000;

export async function deliver(message: Deliver): Promise<void> {
	const s = shared();
	if (!s.delivered.has(message.id)) {
		const done = message.to === "main" ? toMain(s, message, message.text) : await toAgent(s, message);
		if (!done) return;
		s.delivered.add(message.id);
	}
	whenAnswered(s.connection?.request("message.ack", { ids: [message.id] }));
}

function toMain(s: Shared, message: Deliver, text: string): boolean {
	return s.main !== null && send(s.main, message, text);
}

async function toAgent(s: Shared, message: Deliver): Promise<boolean> {
	const live = s.live.get(message.to);
	if (live !== undefined && send(live, message, message.text)) return true;
	if (await wake(s, message)) return true;
	return toMain(s, message, forEnded(message.to, message.text));
}

/** `aside` neither stops what runs nor sends a running command to the background; idle, it starts a turn. */
function send({ pi, ctx }: Instance, message: Deliver, text: string): boolean {
	const details = { id: message.id, from: message.from };
	const quiet = !message.startTurn && ctx.isIdle();
	try {
		pi.sendMessage(
			{ customType: TYPE, content: text, display: true, attribution: "agent", details },
			quiet ? { triggerTurn: false, deliverAs: "nextTurn" } : { triggerTurn: true, deliverAs: "aside" },
		);
		return true;
	} catch {
		return false; // a `/tan` clone, whose actions throw
	}
}

/** An agent that is parked is brought back for it. */
async function wake(s: Shared, message: Deliver): Promise<boolean> {
	const { id, from, to, text: body } = message;
	const irc: IrcMessage = { id, from, to, body, ts: Date.now(), wakeRelay: true };
	try {
		const session = await (await manager(s))?.ensureLive(to);
		await session?.deliverIrcMessage(irc);
		return session !== undefined;
	} catch {
		return false; // it has ended for good
	}
}

async function manager(s: Shared): Promise<Lifecycle | null> {
	if (s.lifecycle !== undefined) return s.lifecycle;
	try {
		const module = await import("@oh-my-pi/pi-coding-agent/registry/agent-lifecycle");
		return (s.lifecycle = module.AgentLifecycleManager.global());
	} catch {
		return (s.lifecycle = null);
	}
}

/** Ids that the conversation has already: handed over by this process, or written in the transcript by an earlier one. */
export function shownIn(s: Shared): string[] {
	const ids = new Set(s.delivered);
	for (const entry of s.main?.ctx.sessionManager.getEntries() ?? []) {
		const id = idOf(entry);
		if (id !== null) ids.add(id);
	}
	return [...ids].slice(-MOST_IDS);
}

function idOf(entry: unknown): string | null {
	const { customType, details } = (entry ?? {}) as { customType?: unknown; details?: { id?: unknown } };
	return customType === TYPE && typeof details?.id === "string" ? details.id : null;
}

