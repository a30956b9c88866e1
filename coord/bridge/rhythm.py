"""When a session's next words to the board are due. All times are those of `time.monotonic`, in seconds."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

BEAT_S = 2.0
LOOK_S = 1.0
SOON_S = 0.1
"""After its own doings a session looks at the board again this soon: others see the same picture."""
ENDED_S = 0.52
"""An agent's run has really ended half a second after it was told; whoever waits for its slot is told by the next call."""
PATIENCE_S = 3.0
"""Without an answer for so long the connection counts as lost."""


class Rhythm:
    """Beats (one outstanding at a time), and looks at those before us in a line. `lease_ms`: as the file says now, since the
    board takes a changed lease up at once."""

    def __init__(self, lease_ms: Callable[[], int]) -> None:
        self._lease_ms = lease_ms
        self._beat_at = self._look_at = self._posted_at = 0.0
        self._ends_at = math.inf

    @property
    def _beat_s(self) -> float:
        return min(BEAT_S, self._lease_ms() / 4000)

    def at_once(self) -> None:
        self._beat_at = 0.0

    def soon(self) -> None:
        """The next beat comes within a short while."""
        self._beat_at = min(self._beat_at, time.monotonic() + SOON_S)

    def later(self) -> None:
        """The next beat, which may be under way, comes after a short while, not at once."""
        self._beat_at = time.monotonic() + SOON_S

    def run_ended(self) -> None:
        """A beat is due when the run that was just told of has really ended."""
        self._ends_at = time.monotonic() + ENDED_S

    def beaten(self) -> None:
        """A beat was answered."""
        self._beat_at = time.monotonic() + self._beat_s

    def looks(self, now: float) -> bool:
        """Whether a look at those before us is due, which then counts as done."""
        due = now >= self._look_at
        if due:
            self._look_at = now + LOOK_S
        return due

    def beats(self, now: float) -> bool:
        """Whether a beat is due, which then counts as posted."""
        due = now >= min(self._beat_at, self._ends_at)
        if due:
            self._beat_at = now + self._beat_s
            self._ends_at = math.inf if now >= self._ends_at else self._ends_at
            self._posted_at = now
        return due

    def unanswered(self, now: float) -> bool:
        """Whether the beat that was posted last has had its time."""
        return now - self._posted_at > PATIENCE_S

    def rest(self, now: float, *, posted: bool, in_line: bool) -> float:
        """Seconds until something is due (negative: it is). `posted`: a beat is under way."""
        due = self._posted_at + PATIENCE_S if posted else min(self._beat_at, self._ends_at)
        return (min(due, self._look_at) if in_line else due) - now
