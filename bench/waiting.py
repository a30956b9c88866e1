"""Waiting for something that has a name."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def until(condition: Callable[[], bool], what: str, seconds: float = 120.0) -> None:
    """Returns when the condition holds; TimeoutError says what did not come about."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"after {seconds:g} s it is still not so that {what}")
        time.sleep(0.002)
