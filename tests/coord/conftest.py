from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

from coord.home import Home
from coord.server import decide, embedded
from tests.coord.desk import Desk
from tests.servers import Server, free_port, short_folder, start_patiently


@pytest.fixture(scope="session")
def one_server() -> Iterator[Server]:
    """One server for all that does not depend on its kind."""
    with Server("valkey9") as running:
        yield running


@pytest.fixture
def own_server() -> Iterator[Server]:
    """A server of the test's own, which may do to it what it wants."""
    with Server("valkey9") as running:
        yield running


@pytest.fixture
def folder() -> Iterator[str]:
    path = short_folder()
    yield path
    shutil.rmtree(path)


@pytest.fixture
def desk(one_server: Server, folder: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    """A folder and a board for Python programs."""
    desk = Desk(folder, monkeypatch, one_server.url)
    yield desk
    desk.close()


@pytest.fixture
def own_desk(own_server: Server, folder: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    """The same on a server of its own."""
    desk = Desk(folder, monkeypatch, own_server.url)
    yield desk
    desk.close()


@pytest.fixture
def embedded_desk(folder: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    """The same with an embedded server, which is started on first need."""
    start_patiently(monkeypatch)
    monkeypatch.setattr(decide, "LOCAL_URL", f"redis://127.0.0.1:{free_port()}")
    desk = Desk(folder, monkeypatch)
    yield desk
    desk.close()
    embedded.stop(Home.find({"OMP_COORD_HOME": folder + "/home"}), force=True)
