"""What a session knows of the board, from its last beat and from what was told it since."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coord.answers import Answer


class Picture:
    """`holds`: pool → until when (ms of the board's clock; None while paused). `line`: pool → place, 1 = next. `pools`:
    (name, used, cap) in the file's order. `paused`: {by, label, reason, since} or None. `allowance` None: the host's
    queue is not to be driven, `why`: paused, others, eval, none."""

    def __init__(self) -> None:
        self.holds: dict[str, int | None] = {}
        self.line: dict[str, int] = {}
        self.tickets: dict[str, str] = {}
        self.pools: list[tuple[str, int, int | None]] = []
        self.paused: dict[str, Any] | None = None
        self.waiting_jobs = 0
        self.watch: list[dict[str, Any]] = []
        self.withdrawn: list[str] = []
        self.allowance: int | None = None
        self.why = ""
        self.ahead_ms = 0

    def beat(self, answer: Answer) -> None:
        """Takes in the answer to a beat."""
        fields = answer.fields
        holds, line = json.loads(fields["holds"]), json.loads(fields["line"])
        self.holds = {hold["pool"]: _ms(hold.get("until")) for hold in holds}
        self.line = {wait["pool"]: int(wait["place"]) for wait in line}
        self.tickets = {each["pool"]: each["ticket"] for each in (*holds, *line)}
        self.pools = [(pool["name"], int(pool["used"]), _ms(pool.get("cap"))) for pool in json.loads(fields["pools"])]
        self.paused = json.loads(fields["paused"]) if fields["paused"] else None
        self.waiting_jobs = int(fields["waitingJobs"])
        self.watch = json.loads(fields["watch"])

    def any(self, answer: Answer) -> None:
        """Takes in what any answer may say: the clock, and how many spawns may wait in the host's queue."""
        if answer.now:
            self.ahead_ms = answer.now - int(time.time() * 1000)
        if "allowance" in answer.fields:
            text = answer.fields["allowance"]
            self.allowance, self.why = int(text) if text else None, answer.fields["why"]

    def told(self, text: str) -> None:
        """Takes in a message to this session."""
        word, pool, until, ticket = [*text.split(" "), "", "", ""][:4]
        if word == "hold" and until.isdigit():
            self.holds[pool], self.tickets[pool] = int(until), ticket
            self.line.pop(pool, None)
        elif word == "withdrawn":
            self.holds.pop(pool, None)
            self.withdrawn.append(pool)

    def left(self, pool: str) -> None:
        """The session has no place and no hold in the pool's line any more."""
        for known in (self.holds, self.line, self.tickets):
            known.pop(pool, None)

    def local_s(self, ms: int) -> float:
        """A time of the board's clock on this machine's, in seconds."""
        return (ms - self.ahead_ms) / 1000


def _ms(value: float | None) -> int | None:
    return None if value is None else int(value)
