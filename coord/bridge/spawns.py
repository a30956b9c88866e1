"""One spawn: asked of the board, and its answer in words. A board that settles is asked again when it has."""

from __future__ import annotations

import json
import math
import os
import time
from typing import TYPE_CHECKING, Any

from coord.bridge import words
from coord.bridge.agents import kind_of
from coord.bridge.words import Refusal

if TYPE_CHECKING:
    from coord.answers import Answer
    from coord.bridge.session import Session

SETTLING_S = 3.2
"""Seconds for which an answer is held back at most, from when the board first said that it settles: it does so for 3."""
AGAIN_S = 0.02


class Spawn:
    """A spawn that was asked for. `result` is None while the board settles; then `ask` is to be called again at `due`
    (monotonic seconds). `refusal` is set when it was refused."""

    def __init__(self, parent: dict[str, Any], type: str, key: str = "", invocation: str = "task") -> None:
        self.slot = os.urandom(8).hex()  # the same for every try, so that a lost answer takes no second slot
        self.parent, self.type, self.key = parent, type.lower(), key
        self.invocation = "eval" if invocation == "eval" else "task"
        self.result: dict[str, Any] | None = None
        self.refusal: Refusal | None = None
        self.due = 0.0
        self._until = math.inf

    def ask(self, session: Session) -> None:
        answer = session.ask(
            "spawn_request", slot=self.slot, parent=self.parent["id"], parent_kind=kind_of(self.parent), type=self.type,
            key=self.key, invocation=self.invocation,
        )  # fmt: skip
        if answer is None:
            self.result = uncoordinated()
        elif answer.verdict == "approved":
            self._approved(session, answer)
        elif answer.fields["cause"] == "settling" and (now := time.monotonic()) < self._until:
            # Not counted from the request: a bridge that stood still before it asked would give up just before the end.
            self._until = min(self._until, now + SETTLING_S)
            self.due = min(self._until, now + answer.settle_ms / 1000 + AGAIN_S)
        else:
            self._refused(session, answer)

    def _approved(self, session: Session, answer: Answer) -> None:
        if self.invocation == "eval" and self.key:
            session.agents.asked_as_eval(self.key)
        if answer.fields["pool"]:
            session.picture.left(answer.fields["pool"])
        self.result = {"allowed": True, "coordinated": True, **_figures(answer, session)}

    def _refused(self, session: Session, answer: Answer) -> None:
        told = self.refusal = Refusal(answer.fields, json.loads(answer.fields["holders"]), self.type)
        if told.cause == "paused" and session.picture.paused is None:
            session.look()
        if told.place is not None and told.pool not in session.picture.holds:
            session.picture.line[told.pool] = told.place
        text = words.refusal(told, session.picture.paused, session.contact.settings.agents.hold_ms)
        self.result = {"allowed": False, "coordinated": True, "reason": text, "cause": told.cause}
        if told.place is not None:
            self.result["place"] = told.place
        self.result |= _figures(answer, session)


def uncoordinated() -> dict[str, Any]:
    """The answer when there is no board: nobody is kept from working by that."""
    return {"allowed": True, "coordinated": False, "pool": None, "used": 0, "cap": None, "allowance": None}


def _figures(answer: Answer, session: Session) -> dict[str, Any]:
    fields = answer.fields
    allowance = session.picture.allowance if session.contact.settings.agents.queue_spawns else None
    return {
        "pool": fields["pool"] or None,
        "used": int(fields["used"]),
        "cap": int(fields["cap"]) if fields["cap"] else None,
        "allowance": allowance,
    }
