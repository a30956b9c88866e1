"""One module per row of the table, each with `measure(place, rounds)`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.rows import (
    bridge,
    crowd,
    eight,
    freed,
    handover,
    idle,
    line,
    managers,
    omp_hooks,
    omp_start,
    pairs,
    process,
    spawn,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.figures import Figure
    from bench.place import Place

ROWS: tuple[Callable[[Place, int], Figure], ...] = (
    process.measure,
    eight.measure,
    handover.measure,
    managers.measure,
    pairs.measure,
    line.measure,
    idle.measure,
    spawn.measure,
    crowd.measure,
    bridge.idle,
    freed.measure,
    bridge.opening,
    omp_start.measure,
    omp_hooks.spawns,
    omp_hooks.calls,
)
