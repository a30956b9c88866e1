// All that the plugin says by itself, when no bridge is there to say it. Everything else comes from the bridge.

export const MISSING =
	"omp-coord: the command `omp-coord` is not found, so agents are not capped. Install it with `pip install omp-coord`, or name it in OMP_COORD_BIN, and start omp again.";

export const LOST =
	"omp-coord: the bridge is missing, or does not answer: agents are neither counted nor capped until it is back. One that has ended is being restarted.";

export const BACK = "omp-coord: the bridge answers again: what runs counts, and the caps hold.";

export const NO_ANSWER = "omp-coord: the bridge is missing at the moment, or does not answer. Try again in a few seconds.";

export const COMMAND = "The shared board of this project (omp-coord)";

export function forEnded(agent: string, text: string): string {
	return `(For the agent ${agent}, which can't be reached any more.)\n${text}`;
}
