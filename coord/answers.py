"""What the scripts answer: one class per verdict, the same words as in `lua/`.

Every answer has `verdict`, `epoch` (the board's), `now` (ms, the board's clock), `settle_ms` (until a new board grants
again; 0: it does) and `suspects` (participants that the caller should look at in its process table).
"""

from __future__ import annotations

from coord.errors import BoardFault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Answer:
    """Base of all verdicts; `fields` are the raw texts by the names that the script gives them."""

    __slots__ = ("epoch", "fields", "now", "settle_ms", "verdict")

    def __init__(self, verdict: str, fields: dict[str, str]) -> None:
        self.verdict = verdict
        self.fields = fields
        self.epoch = fields.get("epoch", "")
        self.now = int(fields.get("now", 0))
        self.settle_ms = int(fields.get("settleMs", 0))

    @property
    def suspects(self) -> list[dict[str, Any]]:
        return _json(self.fields.get("suspects")) or []

    def __repr__(self) -> str:
        return f"{self.verdict} {self.fields}"


class Granted(Answer):
    """The slot is the job's. From `granted` of an enqueue, `nested`, `started`: run the command."""

    @property
    def fence(self) -> str:
        return self.fields.get("fence", "")  # an agent that `started` has none

    @property
    def ticket(self) -> str:
        return self.fields.get("ticket", "")

    @property
    def limit_ms(self) -> int | None:
        """The time limit in force, milliseconds from the start of the command."""
        text = self.fields.get("limitMs")
        return int(float(text)) if text else None

    @property
    def owner(self) -> str:
        return self.fields.get("owner", "")

    @property
    def inside(self) -> str:
        """The job whose slot this one runs in, or ""."""
        return self.fields.get("inside", "")


class Waiting(Answer):
    """A place in line. `place` 1 is next; `about`: an estimate (fair share); `cause`: full, paused, settling or
    notListening."""

    @property
    def ticket(self) -> str:
        return self.fields["ticket"]

    @property
    def owner(self) -> str:
        """Who shares fairly with others: the session, when the board knows it."""
        return self.fields["owner"]

    @property
    def place(self) -> int:
        return int(self.fields["place"])

    @property
    def about(self) -> bool:
        return self.fields["about"] == "1"

    @property
    def queued_at(self) -> int:
        return int(self.fields["queuedAt"])

    @property
    def cause(self) -> str:
        return self.fields["cause"]

    @property
    def holders(self) -> list[dict[str, Any]]:
        return _json(self.fields["holders"])  # type: ignore[no-any-return]

    @property
    def ahead(self) -> list[dict[str, Any]]:
        return _json(self.fields["ahead"])  # type: ignore[no-any-return]


class Busy(Answer):
    """No slot now and no wait wanted (`busy`), or a wait that could never end (`knot`)."""

    @property
    def cause(self) -> str:
        return self.fields.get("cause", "knot")

    @property
    def holders(self) -> list[dict[str, Any]]:
        return _json(self.fields["holders"])  # type: ignore[no-any-return]


class Running(Answer):
    """The job runs on; `kill_by` is who asked to kill it, or ""."""

    @property
    def kill_by(self) -> str:
        return self.fields.get("killBy", "")

    @property
    def kill_reason(self) -> str:
        return self.fields.get("killReason", "")


class Ended(Answer):
    """It has ended before: `how` (finished, cancelled, left, lost, lapsed), `cause`, `by`, `at` (ms)."""

    @property
    def how(self) -> str:
        return self.fields["how"]

    @property
    def cause(self) -> str:
        return self.fields["cause"]

    @property
    def by(self) -> str:
        return self.fields["by"]

    @property
    def at(self) -> int:
        return int(self.fields["at"] or 0)


_CLASSES: dict[str, type[Answer]] = {
    "granted": Granted,
    "nested": Granted,
    "started": Granted,
    "waiting": Waiting,
    "busy": Busy,
    "knot": Busy,
    "running": Running,
    "ended": Ended,
    "expired": Ended,
}


def answer_of(reply: list[Any]) -> Answer:
    """The typed answer of a script's flat list."""
    verdict = reply[0]
    fields = dict(zip(reply[1::2], reply[2::2], strict=True))
    return _CLASSES.get(verdict, Answer)(verdict, fields)


def _json(text: str | None) -> Any:
    if not text or text == "[]":
        return []
    import json

    try:
        return json.loads(text)
    except ValueError as error:
        raise BoardFault(f"the board holds a record that is not ours: {error}") from None
