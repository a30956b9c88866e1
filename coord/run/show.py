"""What the runner needs of whoever shows its lines; for type checkers."""

from __future__ import annotations

from typing import Protocol

from coord.run.job import Job


class Show(Protocol):
    """What the runner says, on stderr."""

    def notice(self, text: str) -> None:
        """A line that is never silenced."""

    def waiting(self, job: Job) -> None:
        """The job waits; called whenever something may have changed, at least twice a second."""

    def quiet(self) -> None:
        """The wait is over: takes the line away."""
