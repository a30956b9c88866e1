"""A spawn check through a bridge's pipes, while ten sessions are open."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from bench.figures import Figure, median, percentile
from bench.hosts import Hosts

if TYPE_CHECKING:
    from bench.hosts import Host
    from bench.place import Place

SESSIONS = 10
EACH = 5
"""Checks of each session in a round. Their agents run on until the round is over."""
CONFIG = {"agents": {"pools": {"work": {"cap": 100_000}}}}


def measure(place: Place, rounds: int) -> Figure:
    with Hosts(place, "spawn", SESSIONS, CONFIG) as hosts:
        numbers = itertools.count()
        seen = [value for _ in range(rounds) for value in checks(hosts, numbers)]
    p50, p99 = median(seen) * 1000, percentile(seen, 99) * 1000
    return Figure(
        f"spawn check through a bridge's pipes, {SESSIONS} sessions",
        "p50 ≤ 1 ms, p99 ≤ 5 ms",
        f"p50 {p50:.2f} / p99 {p99:.1f} ms",
        p50 <= 1 and p99 <= 5,
    )


def checks(hosts: list[Host], numbers: itertools.count[int]) -> list[float]:
    """The seconds of a round's checks: every session asks in its turn; the agents start, and end after the last check."""
    seen, agents = [], []
    for _ in range(EACH):
        for host in hosts:
            agent = f"W{next(numbers)}"
            took, allowed = host.spawn(agent)
            if not allowed:
                raise RuntimeError("a spawn under the cap was refused")
            seen.append(took)
            host.start(agent)
            agents.append((host, agent))
    for host, agent in agents:
        host.end(agent)
    return seen
