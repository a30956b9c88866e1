"""What every test may ask for: a real server of each kind, a scope on it with users of its own, a board."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from coord.board import Board
from tests.boards import Clock
from tests.limited import Scope
from tests.servers import KINDS, Server

# By default hypothesis fails an example that takes over 200 ms, or data that are slow to make: on a machine that is busy, or
# stands still for a moment, that says nothing of what is tested.
settings.register_profile("omp-coord", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("omp-coord")

# What was started in the background of a script ignores this, and so would every program that a test starts and interrupts.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", params=KINDS)
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    """A running server of each kind, one per test worker; it is gone when the tests are over."""
    with Server(request.param) as running:
        yield running


@pytest.fixture
def scope(server: Server) -> Iterator[Scope]:
    """A scope of its own. Afterwards nothing may lie on the server but the keys that `coord.keys` spells."""
    scope = Scope(server)
    try:
        yield scope
        assert scope.foreign_keys() == []
    finally:
        scope.close()


@pytest.fixture
def board(scope: Scope) -> Board:
    """A board whose time stands still until `clock` moves it; each of its scripts reaches only what it declares."""
    board = scope.board()
    Clock(board)
    return board


@pytest.fixture
def clock(board: Board) -> Clock:
    """The time of `board`."""
    return Clock(board)
