"""What really runs in a session, as far as its host has told: the board is held against it at every beat."""

from __future__ import annotations

import json
import os
from _sha1 import sha1  # hashlib would load OpenSSL, 4 MB
from collections.abc import Iterable
from typing import Any


class Mirror:
    """The agents that run, by id. Each has the id of the slot that it would take on the board, so that asking again is
    asking for the same one. Ids asked for as eval are remembered for the session's life: they never went through the
    host's queue, whenever they start again."""

    def __init__(self, agents: Iterable[dict[str, Any]] = ()) -> None:
        self._runs: dict[str, dict[str, Any]] = {}
        self._absent: set[str] = set()
        self._evals: set[str] = set()
        for agent in agents:
            self.started(agent)

    def __len__(self) -> int:
        return len(self._runs)

    def asked_as_eval(self, id: str) -> None:
        self._evals.add(id)

    def started(self, agent: dict[str, Any]) -> dict[str, Any]:
        """Takes an agent in; returns it as the board is told of it."""
        parent = agent["parent"]
        known = self._runs.get(agent["id"], {})
        self._absent.discard(agent["id"])
        entry = self._runs[agent["id"]] = {
            "id": agent["id"],
            "type": agent["type"].lower(),
            "parent": {"id": parent["id"], "kind": kind_of(parent)},
            "slot": known.get("slot") or os.urandom(8).hex(),
            "unqueued": "eval" if agent["id"] in self._evals else known.get("unqueued", "revived"),
        }
        return entry

    def approved(self, id: str) -> None:
        """It went through the host's queue: it comes back as such when the board was lost."""
        if id in self._runs:
            self._runs[id]["unqueued"] = "none"

    def ended(self, id: str) -> None:
        self._runs.pop(id, None)
        self._absent.discard(id)

    def listed(self, agents: Iterable[dict[str, Any]]) -> str:
        """Takes in the host's own list, with the board's rule: absent from two lists in a row has ended. Returns the
        list as the board is told of it."""
        here = [self.started(agent) for agent in agents]
        missing = self._runs.keys() - {agent["id"] for agent in here}
        for id in missing & self._absent:
            self.ended(id)
        self._absent = missing - self._absent
        return json.dumps(here)

    def text(self) -> str:
        """All of them, as the board is told."""
        return json.dumps(list(self._runs.values()))

    @property
    def hash(self) -> str:
        """What the board computes of those that it has running."""
        return str(sha1("\n".join(sorted(self._runs)).encode()).hexdigest())


def kind_of(parent: dict[str, Any]) -> str:
    """main or sub: a kind that is not known is counted as main, never exempt."""
    return "sub" if parent["kind"] == "sub" else "main"
