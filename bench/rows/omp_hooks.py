"""What the plugin adds to a spawn and to a bash call of the real omp: between an extension that omp asks before it and one
that it asks behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.figures import Figure, percentile
from bench.omp_sessions import ended, sessions
from tests.host.script import agent, bash, report, say, spawn, text, wait

if TYPE_CHECKING:
    from bench.place import Place
    from tests.host.script import Step


def spawns(place: Place, rounds: int) -> Figure:
    return _figure(place, "spawn", "a spawn", [[spawn(agent(f"W{n}", report())), wait()] for n in range(rounds)])


def calls(place: Place, rounds: int) -> Figure:
    return _figure(place, "bash", "a bash call", [[bash("true")] for _ in range(rounds)])


def _figure(place: Place, what: str, shown: str, turns: list[list[Step]]) -> Figure:
    """A session with and one without the plugin, turn by turn in the same run."""
    steps = [step for turn in turns for step in turn]
    prompt = say("go", *steps, text("done"))
    found = {}
    with sessions(place) as made:
        for plugin in (True, False):
            with ended(made.start(plugin=plugin, timed=True).ready()) as omp:
                omp.run(prompt, timeout=60 + 5 * len(turns))
                found[plugin] = made.held_up(what)
    if len(found[True]) < len(turns) or len(found[False]) < len(turns):
        raise RuntimeError(f"omp asked its extensions {len(found[True])} times instead of {len(turns)}")
    p50, p99, alone = percentile(found[True], 50), percentile(found[True], 99), percentile(found[False], 50)
    added = p50 - alone
    return Figure(
        f"added to {shown} of omp",
        "p50 ≤ 2 ms",
        f"p50 {added:.2f} ms (p99 {p99 - alone:.2f} ms)",
        added <= 2,
        [f"two extensions that only look at the clock: {alone:.3f} ms"],
    )
