"""One spawn, on a board that is played: for how long its answer is held back."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from coord.bridge import spawns
from coord.bridge.picture import Picture
from coord.bridge.spawns import SETTLING_S, Spawn

REFUSED = {"pool": "work", "used": "0", "cap": "2", "place": "1", "allowed": "", "holders": "[]"}


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The bridge's clock; the test sets `s`."""
    clock = SimpleNamespace(s=100.0)
    monkeypatch.setattr(spawns, "time", SimpleNamespace(monotonic=lambda: clock.s))
    return clock


def session(*answers: tuple[str, int]) -> Any:
    """A session whose board answers with these causes, and the rest (ms) of its settling."""
    given = [
        SimpleNamespace(verdict="refused", fields={**REFUSED, "cause": cause}, settle_ms=rest)
        for cause, rest in answers
    ]
    rules = SimpleNamespace(agents=SimpleNamespace(hold_ms=300_000, queue_spawns=True))
    return SimpleNamespace(
        ask=lambda verb, **values: given.pop(0), picture=Picture(), contact=SimpleNamespace(settings=rules)
    )


def test_a_bridge_that_stood_still_before_it_asked(now: SimpleNamespace) -> None:
    """The rest of the settling is waited for all the same: it counts from the board's word, not from the request."""
    spawn, board = Spawn({"id": "Main", "kind": "main"}, "task"), session(("settling", 3000), ("full", 0))
    now.s += 2
    spawn.ask(board)
    assert spawn.result is None
    assert 3 < spawn.due - now.s < SETTLING_S
    now.s = spawn.due
    spawn.ask(board)
    assert spawn.result is not None
    assert spawn.result["cause"] == "full"


def test_a_board_that_settles_again_and_again(now: SimpleNamespace) -> None:
    """An answer is held back once; a board that is lost a second time meanwhile refuses, and says why."""
    spawn, board = Spawn({"id": "Main", "kind": "main"}, "task"), session(*[("settling", 3000)] * 3)
    spawn.ask(board)
    now.s += 3
    spawn.ask(board)
    assert spawn.result is None
    assert spawn.due == pytest.approx(100 + SETTLING_S)
    now.s = spawn.due
    spawn.ask(board)
    assert spawn.result is not None
    assert spawn.result["cause"] == "settling"
