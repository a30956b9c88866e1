"""What sessions and pools put on the board, in the model's words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass
class Session:
    """A session on the board."""

    id: str
    label: str
    host_session: str
    machine: str
    process: dict[str, Any]
    bridge: dict[str, Any]
    cwd: str
    policy: str
    joined: int
    lease: int
    bridge_lost_at: int | None = None


@dataclass
class Slot:
    """An agent that counts: `starting`, `running` or `ending`. `deadline`: when it must have started or has really ended."""

    id: str
    session: str
    agent: str | None
    parent: str
    kind: str
    type: str
    pool: str | None
    state: str
    since: int
    unqueued: str | None = None
    absent: bool = False
    deadline: int | None = None


@dataclass
class Place:
    """A session's place in a pool's line (`queue` is the pool). `held`: a free slot is kept for it; while paused `until` is
    None."""

    queue: str
    session: str
    ticket: int
    held: bool = False
    until: int | None = None


@dataclass
class Agent:
    """An agent as its session tells of it."""

    id: str
    type: str
    parent: str = "Main"
    kind: str = "main"
    unqueued: str = "revived"
    """What it is if the board does not know it: revived, eval, or none (another board approved it)."""

    def told(self, slot: str) -> dict[str, Any]:
        parent = {"id": self.parent, "kind": self.kind}
        return {"id": self.id, "type": self.type, "parent": parent, "slot": slot, "unqueued": self.unqueued}
