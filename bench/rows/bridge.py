"""What a bridge costs: memory and time of an idle one, and from its start to the answer to `session.open`."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from bench.figures import Figure, median
from bench.hosts import Host, Hosts
from bench.rows.spawn import CONFIG

if TYPE_CHECKING:
    from bench.place import Place

SECONDS = 20.0
IDLE = 2
"""Two, so that each has another session to know of."""


def idle(place: Place, rounds: int) -> Figure:
    with Hosts(place, "idle-bridge", IDLE, CONFIG) as hosts:
        time.sleep(3)  # its start is behind it
        before = [_cpu_s(host.pid) for host in hosts]
        time.sleep(SECONDS)
        shares = [(_cpu_s(host.pid) - was) / SECONDS * 100 for host, was in zip(hosts, before, strict=True)]
        sizes = [_resident_mb(host.pid) for host in hosts]
    return Figure(
        "an idle bridge",
        "≤ 32 MB, ≤ 0.3 % of a core",
        f"{max(sizes):.0f} MB, {max(shares):.2f} %",
        max(sizes) <= 32 and max(shares) <= 0.3,
    )


def opening(place: Place, rounds: int) -> Figure:
    seen = []
    with Hosts(place, "opening", 1, CONFIG) as hosts:
        folder = os.path.join(place.folder, "opening")
        for _ in range(rounds):
            host = Host(place, folder)
            seen.append(host.opened_s)
            host.close()
        del hosts
    ms = median(seen) * 1000
    return Figure("from a bridge's start to the answer to `session.open`", "≤ 300 ms", f"{ms:.0f} ms", ms <= 300)


def _cpu_s(pid: int) -> float:
    """Processor time that a process has used (user and system), in seconds."""
    with open(f"/proc/{pid}/schedstat", encoding="ascii") as file:
        return int(file.read().split()[0]) / 1e9


def _resident_mb(pid: int) -> float:
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        found = next(line for line in file if line.startswith("VmRSS:"))
    return int(found.split()[1]) / 1024
