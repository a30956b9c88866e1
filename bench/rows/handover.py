"""From the end of one job to the exec of the next one's command, while 20 runners wait and listen."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import time
from typing import TYPE_CHECKING

from bench import peers
from bench.figures import Figure, median, percentile
from bench.waiting import until

if TYPE_CHECKING:
    from bench.place import Place

LISTENING = 20
LINE = 2 * LISTENING
"""Runners that wait at the start of a round: the first half of the hand-overs have at least 20 listening."""

SETTLE_S = 1.5
"""Until the first look of each runner at the others' processes is over, with what has to be imported for it."""

_BASH = """#!/bin/bash
begun=$EPOCHREALTIME
read -t 0.005 <> <(:)
ended=$EPOCHREALTIME
echo "${begun/[.,]/}000 ${ended/[.,]/}000" >> "$1"
"""


def measure(place: Place, rounds: int) -> Figure:
    stamp, how = _stamp(place.folder)
    ours: list[float] = []
    theirs: list[float] = []
    for _ in range(rounds):
        ours += _ours(place, stamp)
        theirs += _flock(place, stamp)
    p50, p99 = median(ours) * 1000, percentile(ours, 99) * 1000
    seen = [f"flock p50 {median(theirs) * 1000:.2f} / p99 {percentile(theirs, 99) * 1000:.1f} ms"] if theirs else []
    return Figure(
        f"end of one job → exec of the next one's command, {LISTENING} subscribed runners",
        "p50 ≤ 2.5 ms, p99 ≤ 8 ms",
        f"p50 {p50:.2f} / p99 {p99:.1f} ms{how}",
        p50 <= 2.5 and p99 <= 8,
        seen,
    )


def _ours(place: Place, stamp: str) -> list[float]:
    note = os.path.join(place.folder, "handover")
    holder, gate = place.held("handover")
    pids = [place.spawn(place.runner("handover", stamp, note)) for _ in range(LINE)]
    until(lambda: place.waiting("handover") == LINE, f"{LINE} runners wait")
    time.sleep(SETTLE_S)
    os.close(gate)
    for pid in (holder, *pids):
        place.reap(pid)
    return _gaps(note)


def _flock(place: Place, stamp: str) -> list[float]:
    """The kernel's own lock, as the floor: it wakes the next one itself, and runs nothing in between."""
    note = os.path.join(place.folder, "handover-flock")
    found = peers.flock(place.folder, stamp, note)
    if found is None or not os.path.exists("/proc/locks"):
        return []
    read, write = os.pipe()
    os.set_inheritable(write, False)
    gate = peers.flock(place.folder, "cat")
    assert gate is not None
    holder = place.spawn(*gate, stdin=read)
    os.close(read)
    until(lambda: holder in _kernel_locks()[0], "flock holds its lock")
    pids = [place.spawn(*found) for _ in range(LINE)]
    until(lambda: set(pids) <= _kernel_locks()[1], "all flock processes wait")
    os.close(write)
    for pid in (holder, *pids):
        place.reap(pid)
    return _gaps(note)


def _kernel_locks() -> tuple[set[int], set[int]]:
    """The processes that hold a lock of the kernel, and those that wait for one."""
    with open("/proc/locks", encoding="ascii") as file:
        rows = [text.split() for text in file]
    return {int(row[4]) for row in rows if row[1] != "->"}, {int(row[5]) for row in rows if row[1] == "->"}


def _gaps(note: str) -> list[float]:
    """Seconds from each end to the next begin, of those hand-overs at which at least 20 more were waiting."""
    with open(note, encoding="ascii") as file:
        stamps = sorted(tuple(int(word) for word in text.split()) for text in file)
    os.unlink(note)
    pairs = list(itertools.pairwise(stamps))[: LINE - LISTENING]
    return [(begun - ended) / 1e9 for (_, ended), (begun, _) in pairs]


def _stamp(folder: str) -> tuple[str, str]:
    """The program that notes its times, and what to say of it: a compiled one costs next to nothing itself."""
    path = os.path.join(folder, "stamp")
    source = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "stamp.c")
    compiler = shutil.which("cc")
    for static in (["-static"], []):
        words = [compiler or "", "-O2", *static, "-o", path, source]
        if compiler and subprocess.run(words, capture_output=True, check=False).returncode == 0:
            return path, ""
    with open(path, "w", encoding="ascii") as file:
        file.write(_BASH)
    os.chmod(path, 0o700)
    return path, " (with bash's start in it: no C compiler)"
