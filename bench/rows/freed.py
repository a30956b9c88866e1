"""From the freeing of a slot to the notice on the waiting session's bridge."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from bench.figures import Figure, median, percentile
from bench.hosts import Hosts

if TYPE_CHECKING:
    from bench.place import Place

CONFIG = {"agents": {"pools": {"work": {"cap": 1}}}}


def measure(place: Place, rounds: int) -> Figure:
    """The slot is freed by its session's leaving (an ended run is `ending` for half a second first)."""
    seen = []
    for _ in range(rounds):
        with Hosts(place, "freed", 2, CONFIG) as (holder, waiter):
            if not holder.spawn("W0")[1] or waiter.spawn("W1")[1]:
                raise RuntimeError("the cap of one slot did not hold")
            holder.start("W0")
            waiter.forget()
            begun = time.perf_counter()
            holder.call("session.close", reason="exit")
            seen.append(waiter.told("deliver")[0] - begun)
    p50, p99 = median(seen) * 1000, percentile(seen, 99) * 1000
    return Figure(
        "a freed slot → the waiting session's notice on its bridge's stdout",
        "p50 ≤ 3 ms",
        f"p50 {p50:.2f} / p99 {p99:.1f} ms",
        p50 <= 3,
    )
