"""A runner as the tests play it: what it asked for, and what it was told."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from coord.answers import Answer


@dataclass
class Runner:
    """A process that runs or waits for one job: what it asked for, and what it was told."""

    id: str
    machine: str
    pid: int
    queue: str
    lane: str
    owner: str
    policy: str
    parent: str | None
    wait: bool
    limit_ms: int | None
    queued_at: int = 0
    alive: bool = True
    phase: str = "asks"
    """asks (no answer yet), waiting, running, stopped, done."""
    ticket: int | None = None
    fence: int | None = None
    inside: str = ""
    told_limit: int | None = None
    stale: list[int] = field(default_factory=list)

    @property
    def process(self) -> dict[str, Any]:
        return {"pid": self.pid, "start": "1", "instance": self.id}

    def seen(self, how: str) -> dict[str, Any]:
        """What somebody who looked at its machine's process table says of it."""
        return {"kind": "job", "id": self.id, **self.process, "is": how, "pids": [self.pid + 1]}

    @property
    def state(self) -> str:
        """What it says that it does."""
        return self.phase if self.phase in ("running", "stopped") else "waiting"

    def record(self) -> dict[str, Any]:
        """What it knows of itself when it registers again."""
        fields = {"process": self.process, "owner": self.owner, "queuedAt": self.queued_at, "command": "true"}
        fields |= {"parent": self.parent} if self.parent else {}
        return fields | ({} if self.told_limit is None else {"limitMs": self.told_limit})

    def hears(self, answer: Answer, confirmed: bool = True) -> Answer:
        """It takes in what it was told; a grant that it did not just ask for is not yet a start."""
        fields, verdict = answer.fields, answer.verdict
        if verdict in ("granted", "nested", "started", "running") and fields.get("fence"):
            fence = int(fields["fence"])
            if self.fence not in (None, fence):
                self.stale.append(int(self.fence or 0))
            self.ticket, self.fence, self.inside = int(fields["ticket"]), fence, fields["inside"]
            self.told_limit = int(float(fields["limitMs"])) if fields["limitMs"] else None
            if verdict != "granted" or confirmed:
                self.phase = "stopped" if self.phase == "stopped" else "running"
        elif verdict == "waiting":
            self.phase, self.ticket, self.queued_at = "waiting", int(fields["ticket"]), int(fields["queuedAt"])
        elif verdict in ("busy", "knot", "ended", "cancelled", "released"):
            self.phase = "done"
        return answer


def token(number: int | None) -> str:
    """A ticket or fence as it is written; "" for none."""
    return "" if number is None else f"{number:016d}"
