"""A session as the tests play it: its host and bridge, what really runs in it, and what it was told."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any

from coord.answers import Answer
from tests.model.pools.checks import told
from tests.model.pools.things import Agent

_bridges = itertools.count(5000)


@dataclass
class Host:
    """A host process with a bridge, which speaks for one session."""

    id: str
    machine: str
    pid: int
    host_session: str
    policy: str
    instance: str = ""
    label: str = ""
    alive: bool = True
    bridged: bool = True
    bridge: int = field(default_factory=lambda: next(_bridges))
    runs: dict[str, Agent] = field(default_factory=dict)
    """What really runs."""
    asked: list[Agent] = field(default_factory=list)
    """Approved and not yet started."""
    ended: list[Agent] = field(default_factory=list)
    tickets: dict[str, int] = field(default_factory=dict)

    @property
    def speaks(self) -> bool:
        return self.alive and self.bridged

    @property
    def process(self) -> dict[str, Any]:
        return {"pid": self.pid, "start": "1", "instance": self.instance or self.id}

    def record(self) -> dict[str, Any]:
        """What it says of itself when it joins."""
        line = {"line": {pool: f"{ticket:016d}" for pool, ticket in self.tickets.items()}} if self.tickets else {}
        bridge = {"pid": self.bridge, "start": "1"}
        return {"cwd": f"/{self.host_session}", "process": self.process, "bridge": bridge, "version": "1", **line}

    def seen(self, how: str = "") -> dict[str, Any]:
        """What somebody who looked at its machine's process table says of it."""
        truth = "gone" if not self.alive else "live" if self.bridged else "bridgeless"
        return {"kind": "session", "id": self.id, **self.process, "is": how or truth}

    def opens_again(self, id: str) -> None:
        """A new bridge for the same host process: it knows nothing of the old one's tickets."""
        self.id, self.instance, self.bridged, self.bridge = id, id, True, next(_bridges)
        self.tickets = {}

    def hears(self, answer: Answer) -> Answer:
        fields = told(answer)
        if answer.verdict == "joined":
            self.id, self.label = str(fields["session"]), str(fields["label"])
        elif answer.verdict == "alive":
            self.tickets = {pool: ticket for pool, (ticket, _) in {**fields["line"], **fields["holds"]}.items()}
        return answer
