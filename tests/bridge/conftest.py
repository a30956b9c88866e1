"""Bridges through real pipes, against a real server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from coord.board import Board
from coord.wire import connect
from tests.bridge.host import Host
from tests.cli.den import Den, den_of
from tests.cli.place import Place
from tests.servers import Server

POOL = {"work": {"cap": 2}}


def settled(place: Place) -> None:
    """Makes the board of a place, as one of which nobody knows: it need not settle."""
    Board(connect(place.url or ""), place.scope, fresh=True).board_sweep()


@pytest.fixture(scope="module")
def den() -> Iterator[Den]:
    with den_of() as den:
        yield den


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A server for the tests of a module; who ends it starts it again."""
    with Server("redis7") as running:
        yield running


@pytest.fixture
def place(den: Den, server: Server) -> Iterator[Place]:
    """A folder with a pool `work` of two slots, on a board that has settled."""
    place = Place(den, server.url)
    place.config(agents={"pools": POOL})
    settled(place)
    try:
        yield place
    finally:
        place.close()


@pytest.fixture
def host(place: Place) -> Callable[..., Host]:
    """Makes hosts, each with a session of its own unless it is named; opened unless `opened=False`."""
    count = 0

    def make(name: str = "", *, opened: bool = True, **env: str) -> Host:
        nonlocal count
        count += 1
        host = Host(place, name or f"host-session-{count}", **env)
        if opened:
            assert host.open()["active"]
        return host

    return make


@pytest.fixture
def agents(place: Place) -> Callable[..., None]:
    """Writes the configuration with these rules for agents."""

    def write(lease: float = 10, **rules: Any) -> None:
        place.config(agents={"pools": POOL, **rules}, leaseSeconds=lease)

    return write
