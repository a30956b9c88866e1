"""Eight `true` through one slot, started together: from the first start to the end of the last."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from bench import peers
from bench.figures import Figure, interleaved, median, ratio

if TYPE_CHECKING:
    from bench.place import Place

TIMES = 8


def measure(place: Place, rounds: int) -> Figure:
    true = shutil.which("true") or "/bin/true"
    ways = {"ours": lambda: place.seconds(place.runner("eight", "true"), times=TIMES)}
    for name, peer in (("sem -j1", peers.sem), ("tsp", peers.tsp), ("flock", peers.flock)):
        found = peer(place.folder, true)
        if found is not None:
            place.seconds(*found)  # alone: of several that start their daemon or make its folder at once some fail
            ways[name] = lambda found=found: place.seconds(*found, times=TIMES)  # type: ignore[misc]
    seen = interleaved(rounds, ways)
    measured, met = f"{median(seen['ours']) * 1000:.0f} ms", None
    if "sem -j1" in seen:
        to_sem = ratio(seen["ours"], seen["sem -j1"])
        measured += f" = {to_sem:.2f} x sem"
        met = to_sem <= 0.3
    return Figure(
        "eight `true` through one slot, started together",
        "≤ 0.3 x `sem -j1`",
        measured,
        met,
        [f"{name} {median(values) * 1000:.0f} ms" for name, values in seen.items() if name != "ours"],
    )
