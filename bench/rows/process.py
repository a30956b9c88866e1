"""The whole process `omp-coord run q -- true` on a free slot, from its start to its end."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING

from bench import peers
from bench.figures import Figure, interleaved, median, ratio

if TYPE_CHECKING:
    from bench.place import Place


def measure(place: Place, rounds: int) -> Figure:
    true = shutil.which("true") or "/bin/true"
    ways = {
        "ours": lambda: place.seconds(place.runner("process", "true")),
        "python3 -c pass": lambda: place.seconds([sys.executable, "-c", "pass"]),
    }
    for name, peer in (("sem --fg", peers.sem), ("tsp", peers.tsp), ("flock", peers.flock)):
        found = peer(place.folder, true)
        if found is not None:
            ways[name] = lambda found=found: place.seconds(*found)  # type: ignore[misc]
    seen = interleaved(rounds, ways)
    to_python = ratio(seen["ours"], seen["python3 -c pass"])
    measured = f"{median(seen['ours']) * 1000:.1f} ms = {to_python:.2f} x python3"
    met = to_python <= 2.8
    if "sem --fg" in seen:
        to_sem = ratio(seen["ours"], seen["sem --fg"])
        measured += f", {to_sem:.2f} x sem"
        met = met and to_sem <= 0.4
    return Figure(
        "`omp-coord run q -- true`, free slot, whole process",
        "≤ 2.8 x `python3 -c pass` of the same interpreter, ≤ 0.4 x `sem --fg`",
        measured,
        met,
        [f"{name} {median(values) * 1000:.1f} ms" for name, values in seen.items() if name != "ours"],
    )
