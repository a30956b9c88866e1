"""Waiting in tests: for a named condition, never for a time. And a clock for those few promises that are about time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")

STEP_S = 0.25
"""A step of a wait counts as so much at most: a machine that stood still for seconds is no reason to give up."""


def until(condition: Callable[[], Found], what: str, timeout: float = 30, every: float = 0.005) -> Found:
    """The first true answer of `condition`; fails naming `what` when none comes within `timeout` seconds in which this
    machine ran. `every`: the seconds between two looks, for those that cost much."""
    spent, last = 0.0, time.monotonic()
    while not (found := condition()):
        if spent > timeout:
            raise AssertionError(f"{what}: not so within {timeout} s")
        time.sleep(every)
        now = time.monotonic()
        spent, last = spent + min(now - last, max(every, STEP_S)), now
    return found


class Awake:
    """A clock for upper bounds on durations: `seconds` are those in which this machine ran, from the beginning of the `with`
    to its end, or to now. A stall of the whole machine counts as one tick, so it is not taken for slowness of ours; what
    waits while the machine runs is counted in full."""

    TICK_S, MOST_S = 0.01, 0.1

    def __init__(self) -> None:
        self.seconds = 0.0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._tick, daemon=True)

    def _tick(self) -> None:
        last, over = time.monotonic(), False
        while not over:
            over = self._over.wait(self.TICK_S)
            now = time.monotonic()
            self.seconds, last = self.seconds + min(now - last, self.MOST_S), now

    def __enter__(self) -> Awake:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
