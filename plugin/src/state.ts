// What all copies of the plugin in this process share. omp runs the factory again for every subagent, and imports the
// module anew for isolated ones, perhaps another version of it: so the state lies on `globalThis`, is plain data, and
// what an older copy did not have is added to it.

import type { Connection } from "./connection.ts";
import type { Context, Lifecycle, Pi, Registry, Setting } from "./omp.ts";
import type { Agent, Command, Tool } from "./nouns.ts";
import type { Inactive, Opened } from "./protocol.ts";

const KEY = Symbol.for("omp-coord.plugin");

/** One omp session's instance of the plugin. */
export interface Instance {
	pi: Pi;
	ctx: Context;
}

/** An agent that runs. `session`: the host session that it belongs to; `missed`: in how many lists it was not. */
export interface Running extends Agent {
	session: string;
	since: number;
	pi: Pi | null;
	missed: number;
}

/** Main's session. `sessionId` is omp's own. */
export interface MainSession extends Instance {
	sessionId: string;
	cwd: string;
}

/** `wanted`: what the bridge said last; `limit`: what omp's setting was overridden with; `ceiling`: the user's own value, undefined while it was not read;
 * `before`: a run-time override that was there. */
export interface QueueSize {
	wanted: number | null;
	limit: number | null;
	before: number | null;
	ceiling: number | null | undefined;
	reported: boolean;
}

export interface Shared {
	main: MainSession | null;
	/** Agent id → its instance, while its session is alive. */
	live: Map<string, Instance>;
	running: Map<string, Running>;
	connection: Connection | null;
	/** Why there is no connection: an answer to `session.open`, or that the command is missing. */
	apart: Inactive | "missing" | null;
	opened: Opened | null;
	tools: Tool[];
	commands: Command[];
	/** The shapes of the tools that an instance has. */
	registered: WeakMap<Pi, Set<string>>;
	/** What omp lent: undefined while it was not looked for, null when this omp has none. */
	setting: Setting | null | undefined;
	registry: Registry | null | undefined;
	lifecycle: Lifecycle | null | undefined;
	/** Instances that are in a session a second time. */
	doubles: WeakSet<Pi>;
	/** Ids of deliveries that were handed over. */
	delivered: Set<string>;
	/** Names of variables that were set in this process. */
	env: string[];
	queue: QueueSize;
	/** Questions that wait for the bridge. */
	asking: number;
	/** Info notices that are about to be shown. */
	infos: string[];
	footer: string;
	/** The one notice of an outage was given. */
	outage: boolean;
	/** Reasons of inactivity that the user was told. */
	told: Set<string>;
	/** Ends what runs beside the session: timers, listeners. */
	stops: (() => void)[];
}

function fresh(): Shared {
	return {
		main: null,
		live: new Map(),
		running: new Map(),
		connection: null,
		apart: null,
		opened: null,
		tools: [],
		commands: [],
		registered: new WeakMap(),
		setting: undefined,
		registry: undefined,
		lifecycle: undefined,
		doubles: new WeakSet(),
		delivered: new Set(),
		env: [],
		queue: { wanted: null, limit: null, before: null, ceiling: undefined, reported: false },
		asking: 0,
		infos: [],
		footer: "",
		outage: false,
		told: new Set(),
		stops: [],
	};
}

/** Whether the session has the plugin already: installed from two places, it is loaded twice, and would ask twice. */
export function isDouble(s: Shared, pi: Pi, ctx: Context): boolean {
	const first = ctx.agent.kind === "main" ? s.main : s.live.get(ctx.agent.id);
	if (first && first.pi !== pi && first.ctx.sessionManager === ctx.sessionManager) s.doubles.add(pi);
	return s.doubles.has(pi);
}

let known: Shared | null = null;

export function shared(): Shared {
	return (known ??= adopted());
}

function adopted(): Shared {
	const holder = globalThis as { [KEY]?: Partial<Shared> };
	const state = (holder[KEY] ??= {});
	for (const [field, value] of Object.entries(fresh())) {
		if (!(field in state)) Object.assign(state, { [field]: value });
	}
	return state as Shared;
}
