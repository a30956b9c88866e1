"""A home of its own for each test, and servers that are none."""

from __future__ import annotations

import os
import shutil
import socket
import threading
from collections.abc import Callable, Iterator

import pytest

from coord.config.settings import Settings
from coord.home import Home
from coord.server import decide, embedded
from tests.servers import KINDS, free_port, need, short_folder, start_patiently


@pytest.fixture
def folder() -> Iterator[str]:
    path = short_folder()
    yield path
    shutil.rmtree(path)


@pytest.fixture
def home(folder: str) -> Iterator[Home]:
    found = Home.find({"OMP_COORD_HOME": folder + "/home"})
    yield found
    embedded.stop(found, force=True)


@pytest.fixture
def env(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """This process's environment without what is ours, with nothing on the local port and time to start a server."""
    start_patiently(monkeypatch)
    monkeypatch.setattr(decide, "LOCAL_URL", f"redis://127.0.0.1:{free_port()}")
    return {name: value for name, value in os.environ.items() if not name.startswith("OMP_COORD_")}


@pytest.fixture(params=KINDS)
def each(request: pytest.FixtureRequest, env: dict[str, str]) -> dict[str, str]:
    """`env`, with each kind of server program in turn named for the embedded server."""
    return {**env, "OMP_COORD_REDIS_SERVER": need(request.param)}


@pytest.fixture
def settings() -> Settings:
    return Settings(None, "app")


@pytest.fixture
def fake() -> Iterator[Callable[[bytes], str]]:
    """Starts something that answers everything it reads with the same bytes (none: it stays silent); its
    URL."""
    listeners = []

    def start(answer: bytes) -> str:
        listener = socket.create_server(("127.0.0.1", 0))
        listeners.append(listener)
        threading.Thread(target=_serve, args=(listener, answer), daemon=True).start()
        return f"redis://127.0.0.1:{listener.getsockname()[1]}"

    yield start
    for listener in listeners:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def _serve(listener: socket.socket, answer: bytes) -> None:
    kept = []
    while True:
        try:
            peer = listener.accept()[0]
        except OSError:
            return
        kept.append(peer)
        if answer and peer.recv(65536):
            peer.sendall(answer)
