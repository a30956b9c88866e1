"""A Python program as a session."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterator
from typing import Any

import pytest

import coord
from coord.coordinator import Coordinator
from tests.bridge.conftest import settled
from tests.bridge.test_sessions import sessions, slots
from tests.cli.den import Den, den_of
from tests.cli.place import Place
from tests.servers import Server
from tests.waiting import until


@pytest.fixture
def den() -> Iterator[Den]:
    with den_of() as den:
        yield den


@pytest.fixture
def own_server() -> Iterator[Server]:
    with Server("redis7") as running:
        yield running


@pytest.fixture
def place(den: Den, own_server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """A folder with a pool of one slot; this process sees its environment."""
    place = Place(den, own_server.url)
    place.config(agents={"pools": {"work": {"cap": 1}}})
    settled(place)
    monkeypatch.setenv("OMP_COORD_HOME", place.env["OMP_COORD_HOME"])
    monkeypatch.setenv("OMP_COORD_REDIS_URL", own_server.url)
    try:
        yield place
    finally:
        place.close()


@pytest.fixture
def coordinator(place: Place) -> Iterator[Coordinator]:
    with Coordinator.from_cwd(place.folder) as coordinator:
        yield coordinator


def test_its_agents_count(coordinator: Coordinator, place: Place) -> None:
    """Asked, started, ended: the same slots and the same refusals as a host's session."""
    with coordinator.session(place.folder) as session:
        assert session.label == "A"
        spawn = session.request_spawn("Task", key="W0")
        assert (bool(spawn), spawn.coordinated, spawn.pool, spawn.cap) == (True, True, "work", 1)
        session.started("W0")
        assert slots(place) == {"W0": "running"}
        refused = session.request_spawn("task")
        assert (bool(refused), refused.cause, refused.place, refused.used) == (False, "full", 1, 1)
        assert refused.reason.startswith("omp-coord: nothing was started")
        session.ended("W0")
        until(lambda: session.held == ["work"], "a slot is held")
        assert session.request_spawn("task", key="W1")
        session.started("W1")
        nested = session.request_spawn("task", parent="W1")
        assert nested.cause == "nestedType"
        assert session.request_spawn("reviewer", key="R", parent="W1").pool is None
        session.started("R")
        assert slots(place) == {"W1": "running", "R": "running"}
    assert sessions(place) == {}
    session.close()


def test_two_sessions_of_one_program(coordinator: Coordinator, place: Place) -> None:
    """Each has its letter, from whichever thread it is used."""
    with coordinator.session() as first, coordinator.session() as second:
        assert (first.label, second.label) == ("A", "B")
        allowed: list[bool] = []
        threads = [
            threading.Thread(target=lambda s=session: allowed.append(s.request_spawn("task").allowed))
            for session in (first, second) * 4
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(allowed) == [False] * 7 + [True]


def test_it_beats_and_comes_back(coordinator: Coordinator, place: Place, own_server: Server) -> None:
    """Its thread keeps it alive and registers it again after the server was away; meanwhile spawns are let through."""
    with coordinator.session() as session:
        session.request_spawn("task", key="W0")
        session.started("W0")
        own_server.stop()
        spawn = session.request_spawn("task")
        assert (spawn.allowed, spawn.coordinated) == (True, False)
        own_server.restart()
        place.redis("FLUSHALL")
        until(lambda: slots(place) == {"W0": "running"}, "it is back with what runs")
        assert not session.request_spawn("task")


def test_a_fault_of_ours_does_not_end_the_beats(
    coordinator: Coordinator, place: Place, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    """The session's thread goes on, and the log tells what happened."""
    with coordinator.session(place.folder) as session:
        faults = iter(["once"])
        real = session._member.pump

        def pump() -> float:
            for fault in faults:
                raise ZeroDivisionError(fault)
            return real()

        monkeypatch.setattr(session._member, "pump", pump)
        until(lambda: "ZeroDivisionError: once" in caplog.text, "the fault is told")
        lease = ("ZSCORE", place.board.keys["LEASES"], f"s|{session.id}")
        before = place.redis(*lease)
        until(lambda: float(place.redis(*lease)) > float(before), "the lease is renewed")


def test_a_fork_is_no_session(coordinator: Coordinator, place: Place) -> None:
    """A child that ends the `with` takes nothing off the board."""
    with coordinator.session() as session:
        child = os.fork()
        if child == 0:
            session.close()
            os._exit(0)
        os.waitpid(child, 0)
        assert list(sessions(place)) == ["A"]


def test_without_a_server_it_cannot_be_opened(place: Place, monkeypatch: pytest.MonkeyPatch, caplog: Any) -> None:
    """`coord.Unavailable`: unlike a slot, a session that nobody sees is of no use."""
    monkeypatch.setenv("OMP_COORD_REDIS_URL", "redis://127.0.0.1:1")
    caplog.set_level(logging.WARNING)
    with pytest.raises(coord.Unavailable), Coordinator.from_cwd(place.folder).session():
        pass


def test_public_names() -> None:
    """The classes are exported."""
    assert coord.Session.__module__ == "coord.session"
    assert coord.Spawn.__module__ == "coord.session"
