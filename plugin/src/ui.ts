// What the user sees. Consecutive info lines of omp's terminal overwrite each other, so those that come together are
// shown as one.

import type { Context } from "./omp.ts";
import type { Notice } from "./nouns.ts";
import type { Shared } from "./state.ts";

const KEY = "omp-coord";
const TOGETHER_MS = 50;

export function notify(s: Shared, notices: readonly Notice[]): void {
	for (const notice of notices) {
		if (notice.level !== "info") show(s, notice);
		else if (s.infos.push(notice.text) === 1) setTimeout(() => showInfos(s), TOGETHER_MS).unref?.();
	}
}

/** At once, before who shows them goes. */
export function showInfos(s: Shared): void {
	const text = s.infos.splice(0).join("\n");
	if (text !== "") show(s, { level: "info", text });
}

export function footer(s: Shared, text: string): void {
	if (text !== s.footer) s.main?.ctx.ui.setStatus(KEY, text || undefined);
	s.footer = text;
}

/** The answer to a command that the user typed, with what was about to be shown: it would overwrite that. Without a UI
 * it goes to stdout. Both show plain text, so the fences of Markdown's code blocks are left out. */
export function print(s: Shared, ctx: Context, markdown: string): void {
	const text = markdown.replace(/^```.*\n?/gm, "").trimEnd();
	if (ctx.hasUI) ctx.ui.notify([...s.infos.splice(0), text].join("\n\n"), "info");
	else process.stdout.write(`${text}\n`);
}

/** Without a UI only what is wrong is said, on stderr. */
function show(s: Shared, { level, text }: Notice): void {
	const ctx = s.main?.ctx;
	if (ctx?.hasUI) ctx.ui.notify(text, level);
	else if (level !== "info") process.stderr.write(`${text}\n`);
}
