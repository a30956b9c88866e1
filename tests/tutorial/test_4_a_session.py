"""Read this fourth: two sessions share a pool of agents, and a freed slot is held for the one that waits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from coord import Coordinator
from coord.keys import Keys
from coord.wire import connect
from tests.limited import Scope
from tests.waiting import until

FILE = """{
  "scope": "%s",
  "agents": { "pools": { "work": { "cap": 1 } } },   // one agent at a time, over all sessions
}"""


def test_two_sessions_share_a_pool(scope: Scope, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask, be refused, be held a slot, ask again. What a coding agent's bridge does, a Python program can do."""
    (tmp_path / ".omp-coord.json").write_text(FILE % scope.name)
    monkeypatch.setenv("OMP_COORD_HOME", str(tmp_path / "home"))
    keys, link = Keys(scope.name), connect(scope.url)
    show: Any = link.call  # what you would type into redis-cli

    with Coordinator.from_cwd(str(tmp_path), redis=scope.url) as coordinator, coordinator.session() as ann:
        # HGETALL coord:{…}:labels         the lowest free letter is a session's name
        assert ann.label == "A"
        assert show("HGET", keys["LABELS"], "A") == ann.id

        # An agent is asked for before it starts. (This board is new and settles for 3 s, which the answer waits for.)
        assert ann.request_spawn("task", key="W0")
        ann.started("W0")
        # HVALS coord:{…}:slots
        (slot,) = [json.loads(text) for text in show("HVALS", keys["SLOTS"])]
        assert (slot["agent"], slot["pool"], slot["state"]) == ("W0", "work", "running")

        with coordinator.session() as bob:
            # The pool is full. The refusal says who has it, where bob stands, and what comes next.
            refused = bob.request_spawn("task", key="V0")
            assert (refused.allowed, refused.cause, refused.place) == (False, "full", 1)
            assert "1/1 used (by session: A 1)" in refused.reason

            # ann's agent ends. Half a second later its slot is held for bob, and for nobody else.
            ann.ended("W0")
            until(lambda: bob.held == ["work"], "a slot is held for bob")
            assert ann.request_spawn("task").cause == "held"
            assert bob.request_spawn("task", key="V0")
            bob.started("V0")

        # bob has left the board, and with him all he had: the slot is held for ann, who asked in between.
        until(lambda: ann.held == ["work"], "a slot is held for ann")
    link.close()
