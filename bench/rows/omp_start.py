"""What the plugin adds to the start of an omp session, until its first prompt reaches the model."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from bench.figures import Figure, interleaved, median
from bench.omp_sessions import ended, sessions, until_asked

if TYPE_CHECKING:
    from bench.omp_sessions import Sessions
    from bench.place import Place

MOST_ROUNDS = 20
"""A start takes some seconds, and varies by more than is looked for: fewer would tell nothing."""


def measure(place: Place, rounds: int) -> Figure:
    with sessions(place) as found:
        ways = {"with": lambda: _started(found, plugin=True), "without": lambda: _started(found, plugin=False)}
        times = interleaved(min(rounds, MOST_ROUNDS), ways)
    added = median([(a - b) * 1000 for a, b in zip(times["with"], times["without"], strict=True)])
    return Figure(
        "added to the start of an omp session until its first prompt is with the model",
        "≤ 50 ms",
        f"{added:+.0f} ms ({median(times['with']):.2f} s with the plugin)",
        added <= 50,
        [f"omp alone: {median(times['without']):.2f} s"],
    )


def _started(found: Sessions, *, plugin: bool) -> float:
    """Seconds from the start of omp, whose first prompt waits in its input already, to the request to the model."""
    before, begun = len(found.model.asked), time.perf_counter()
    with ended(found.start(plugin=plugin)) as omp:
        omp.send("prompt", message="hello")
        return until_asked(found.model, before + 1) - begun
