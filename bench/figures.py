"""What a row of the table says, and the small statistics behind it."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


@dataclass
class Figure:
    """One row: what is promised, what was seen, and the peers of the same run. `met` None: nothing to compare with."""

    name: str
    must: str
    measured: str
    met: bool | None
    peers: list[str] = field(default_factory=list)

    @property
    def verdict(self) -> str:
        return {True: "met", False: "**not met**", None: "not measured"}[self.met]


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def percentile(values: Sequence[float], percent: float) -> float:
    """The smallest value that `percent` of all do not pass (nearest rank)."""
    ranked = sorted(values)
    return ranked[min(len(ranked) - 1, max(0, -(-len(ranked) * percent // 100) - 1).__trunc__())]


def interleaved(rounds: int, ways: Mapping[str, Callable[[], float]]) -> dict[str, list[float]]:
    """Each way once per round, A B A B …, so that a drift of the machine hits all alike; one round unmeasured first."""
    found: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(rounds + 1):
        for name, way in ways.items():
            value = way()
            if turn:
                found[name].append(value)
    return found


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """The median of the ratios of the rounds: what slows one round slows both sides of it."""
    return median([a / b for a, b in zip(ours, theirs, strict=True)])


def calibration_ms() -> float:
    """A fixed loop of pure Python, the fastest of five: tells a busy or throttled machine from a quiet one."""
    best = float("inf")
    for _ in range(5):
        begun = time.perf_counter()
        total = 0
        for i in range(200_000):
            total += i & 7
        best = min(best, time.perf_counter() - begun)
    return best * 1000


def table(figures: Sequence[Figure]) -> str:
    """The rows as a Markdown table."""
    lines = ["| figure | must be | measured | | peers in the same run |", "|---|---|---|---|---|"]
    for figure in figures:
        peers = "; ".join(figure.peers) or "none"
        lines.append(f"| {figure.name} | {figure.must} | {figure.measured} | {figure.verdict} | {peers} |")
    return "\n".join(lines)
