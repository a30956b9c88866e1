"""What 500 idle waiters ask of the server: calls a second, from real runners."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from typing import TYPE_CHECKING

from bench.figures import Figure
from bench.place import stat
from bench.waiting import until

if TYPE_CHECKING:
    from bench.place import Place

WAITERS = 500
AT_ONCE = 10
SECONDS = 12.0
# What clients send; commands inside scripts are no calls of theirs.
COMMANDS = ("evalsha", "eval", "subscribe", "hello", "ping", "publish")


def measure(place: Place, rounds: int) -> Figure:
    holder, gate = place.held("idle")
    pids: list[int] = []
    try:
        for _ in range(0, WAITERS, AT_ONCE):
            pids += [place.spawn(place.runner("idle", "true")) for _ in range(AT_ONCE)]
            _all_wait(place, len(pids))
        time.sleep(2.5)  # over one beat: the enqueues' own looks are behind us
        place.reset()
        begun = time.monotonic()
        time.sleep(SECONDS)
        calls = sum(stat(place.link, command)[0] for command in COMMANDS)
        micros = stat(place.link, "evalsha")[1]
        took = time.monotonic() - begun
    finally:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
        for pid in pids:
            place.reap(pid)
        os.close(gate)
        place.reap(holder)
    return Figure(
        f"calls per second to the server from {WAITERS} idle waiters",
        "≤ 300",
        f"{calls / took:.0f} ({micros / took / 10_000:.1f} % of one core in the server)",
        calls / took <= 300,
    )


def _all_wait(place: Place, count: int) -> None:
    until(lambda: place.waiting("idle") == count, f"{count} runners wait")
