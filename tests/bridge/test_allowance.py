"""How many spawns may wait in the host's own queue, and when it is not driven at all (design: spawns wait their turn)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.bridge.host import Host, running
from tests.waiting import until

Hosts = Callable[..., Host]
Rules = Callable[..., None]


@pytest.mark.parametrize(
    ("rules", "doings", "value", "note"),
    [
        ({}, [], 2, "2 may run now"),
        ({}, ["run W0"], 2, "2 may run now"),
        ({}, ["run W0", "run W1"], 2, "2 may run now"),
        ({}, ["run W0", "run R0 reviewer"], 3, "3 may run now"),
        ({}, ["started X"], 1, "1 may run now"),
        ({}, ["started X", "started Y"], None, "no slot is free"),
        ({}, ["run W0", "started X", "started Y"], 1, "1 may run now"),
        ({}, ["eval E0"], None, "eval workers run"),
        ({}, ["pause"], None, "the scope is paused"),
        ({}, ["eval E0", "pause"], None, "the scope is paused"),
        ({"queueSpawns": False}, ["pause"], None, "agents.queueSpawns is off"),
        ({"queueSpawns": False}, [], None, "agents.queueSpawns is off"),
        ({"pools": {"work": {"cap": 0}}}, [], None, "no slot is free"),
        ({"pools": {}}, [], None, "no slot is free"),
        (
            {"pools": {"a": {"cap": 3, "types": ["a"]}, "b": {"cap": 5}}, "defaultPool": "b"},
            ["run A0 a"],
            6,
            "6 may run",
        ),
    ],
)
def test_the_allowance(
    host: Hosts, agents: Rules, rules: dict[str, Any], doings: list[str], value: int | None, note: str
) -> None:
    """How many spawns the host's queue may let through, or the first reason why it is not driven."""
    agents(**rules)
    it = host()
    for doing in doings:
        word, *rest = doing.split()
        if word == "pause":
            it.call("slash.run", args="pause")
        elif word == "eval":
            it.spawn(key=rest[0], invocation="eval")
            it.started(rest[0])
        else:
            getattr(it, word)(*rest)
    assert it.call("agents.sync", agents=it_runs(doings))["allowance"] == value
    text = it.call("tool.call", agent="Main", name="coord_status")["text"]
    assert note in text.splitlines()[0]


def it_runs(doings: list[str]) -> list[dict[str, Any]]:
    """The agents that run after them."""
    words = [doing.split() for doing in doings if doing != "pause"]
    return [running(rest[0], rest[1] if len(rest) > 1 else "task") for _, *rest in words]


def test_a_session_that_is_not_alone_does_not_drive(host: Hosts) -> None:
    """The second session's arrival clears the override, its leaving sets it again."""
    it, other = host(), host()
    it.until_told("allowance", "other sessions")
    assert it.spawn()["allowance"] is None
    other.end_input()
    until(lambda: it.told("allowance")[-1]["value"] == 2, "it is driven again")
    assert it.told("allowance")[0]["value"] is None


def test_a_host_that_cannot_have_spawns_wait(host: Hosts, agents: Rules) -> None:
    """It is told of once and shown where the others are; no number is sent any more."""
    it = host()
    assert it.spawn(key="W0")["allowance"] == 2
    for _ in range(2):
        assert it.call("spawnQueue.unsized", reason="no such setting\x07") is None
    it.until_told("allowance", "omp's own queue cannot be sized (no such setting)")
    assert it.spawn(key="W1")["allowance"] is None
    assert it.started("W1") == {"allowance": None}
    assert "cannot be sized (no such setting)" in it.call("slash.run", args="")["text"]
    assert len([text for text in it.texts("warning") if "no such setting" in text]) == 1
    off = host(opened=False)
    agents(queueSpawns=False)
    off.open()
    off.call("spawnQueue.unsized", reason="no such setting")
    assert off.call("slash.complete", prefix="")["items"]
    assert off.texts("warning") == []
