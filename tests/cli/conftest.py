"""Places in which to run `omp-coord`; what they are is said in `place` and `desk`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cli.den import Den, den_of
from tests.cli.desk import Desk
from tests.cli.place import Place
from tests.servers import Server


@pytest.fixture(scope="module")
def den() -> Iterator[Den]:
    """A home with a running embedded server, shared by a module's tests."""
    with den_of() as den:
        den.start()
        yield den


@pytest.fixture
def place(den: Den) -> Iterator[Place]:
    """A folder and a scope for one test; all that it started is ended afterwards."""
    place = Place(den)
    yield place
    place.close()


@pytest.fixture
def own_den() -> Iterator[Den]:
    """A home of the test's own, whose embedded server does not run yet."""
    with den_of() as den:
        yield den


@pytest.fixture
def own_place(own_den: Den) -> Iterator[Place]:
    """A place whose server belongs to this test, which may do to it what it wants."""
    place = Place(own_den)
    yield place
    place.close()


@pytest.fixture(scope="session")
def plain_server() -> Iterator[Server]:
    """One server for all that does not depend on its kind."""
    with Server("valkey9") as running:
        yield running


@pytest.fixture
def desk(plain_server: Server, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Iterator[Desk]:
    """A folder and a board for commands that run inside the test's own process."""
    desk = Desk(plain_server, monkeypatch, capfd)
    try:
        yield desk
    finally:
        desk.close()
