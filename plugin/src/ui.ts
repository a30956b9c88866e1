// What the user sees. Consecutive info lines of omp's terminal overwrite each other, so what comes together is shown
// as one.

import type { Context } from "./omp.ts";
import type { Notice } from "./protocol.ts";
import type { Shared } from "./state.ts";

const KEY = "omp-coord";

export function notify(s: Shared, notices: readonly Notice[]): void {
	const infos = notices.filter(notice => notice.level === "info");
	if (infos.length > 0) show(s, { level: "info", text: infos.map(notice => notice.text).join("\n") });
	for (const notice of notices) if (notice.level !== "info") show(s, notice);
}

function show(s: Shared, { level, text }: Notice): void {
	const ctx = s.main?.ctx;
	if (ctx === undefined) return;
	if (ctx.hasUI) ctx.ui.notify(text, level);
	else if (level !== "info") process.stderr.write(`${text}\n`);
}

export function footer(s: Shared, text: string | undefined): void {
	s.main?.ctx.ui.setStatus(KEY, text || undefined);
}

/** The answer to a command that the user typed: stdout where omp has no UI. */
export function print(ctx: Context, text: string): void {
	if (ctx.hasUI) ctx.ui.notify(text, "info");
	else process.stdout.write(`${text}\n`);
}
