"""What stands on the board, in the model's words."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

WAITS = ("waiting", "away")


@dataclass
class Job:
    """A job on the board. It holds a slot of its queue unless it waits, is away or runs inside another's slot."""

    id: str
    queue: str
    lane: str
    owner: str
    policy: str
    machine: str
    process: dict[str, Any]
    parent: str | None
    queued_at: int
    ticket: int
    lease: int
    limit_ms: int | None = None
    state: str = "waiting"
    fence: int | None = None
    inside: str | None = None
    deadline: int | None = None
    granted_at: int | None = None
    started_at: int | None = None
    kill_by: str | None = None
    kill_reason: str | None = None
    pids: list[int] | None = None

    @property
    def holds(self) -> bool:
        return self.state not in WAITS and self.inside is None


@dataclass
class Ended:
    """How a job ended."""

    how: str
    queue: str
    at: int
    instance: str
    fence: int | None
    cause: str = ""
    by: str = ""


@dataclass
class Pause:
    """While it stands nobody gets anything new; `held`: what each hold has left, by pool and session."""

    by: str
    label: str
    reason: str
    since: int
    held: dict[tuple[str, str], int] = field(default_factory=dict)


@dataclass
class Call:
    """What every call says of its caller."""

    clock: int
    machine: str
    epoch: str
    fresh: bool
    load: float
    vouch: list[dict[str, Any]] = field(default_factory=list)
