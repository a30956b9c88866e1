"""Taking a free slot and giving it back on the library, one process, nobody else: pairs a second."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.figures import Figure, interleaved, median
from bench.place import stat
from bench.workers import Workers

if TYPE_CHECKING:
    from bench.place import Place

TIMES = 200
PEER = "redis-py Lock"


def measure(place: Place, rounds: int) -> Figure:
    calls: list[float] = []
    theirs: list[float] = []
    with Workers(place, "ours", "pairs") as slot, Workers(place, PEER, "pairs") as lock:

        def ours() -> float:
            place.reset()
            took: float = slot.ask(f"pairs {TIMES}")[0]
            number, micros = place.scripts()
            calls.append(micros / number)
            return TIMES / took

        def peer() -> float:
            place.reset()
            took: float = lock.ask(f"pairs {TIMES}")[0]
            theirs.append((place.scripts()[1] + stat(place.link, "set")[1]) / 2 / TIMES)
            return TIMES / took

        seen = interleaved(rounds, {"ours": ours, PEER: peer})
    share = median([a / b for a, b in zip(seen["ours"], seen[PEER], strict=True)])
    server = median(calls)
    return Figure(
        "take + give back on the library, one process, pairs a second",
        f"≥ 0.9 x {PEER}, ≤ 40 µs server time a call",
        f"{median(seen['ours']):.0f} = {share:.2f} x {PEER}, {server:.0f} µs",
        share >= 0.9 and server <= 40,
        [f"{PEER} {median(seen[PEER]):.0f}, {median(theirs):.0f} µs"],
    )
