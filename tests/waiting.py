"""Waiting in tests: for a named condition, never for a time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")


def until(condition: Callable[[], Found], what: str, timeout: float = 10, every: float = 0.005) -> Found:
    """The first true answer of `condition`; fails naming `what` when none comes within `timeout` seconds.
    `every`: the seconds between two looks, for those that cost much."""
    deadline = time.monotonic() + timeout
    while not (found := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"{what}: not so within {timeout} s")
        time.sleep(every)
    return found
