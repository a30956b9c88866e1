"""A server that says what the test tells it, to see what a connection makes of it."""

from __future__ import annotations

import socket
import threading
from typing import Any

from coord.wire import Link
from tests.waiting import until

HELLO = b"%1\r\n+server\r\n+puppet\r\n"


class Puppet:
    """Listens on a port of 127.0.0.1 and greets one client with `hello`; then `peer` is the test's end of the
    connection."""

    def __init__(self, hello: bytes = HELLO) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._hello = hello
        self._peer: socket.socket | None = None
        self._there = threading.Event()
        threading.Thread(target=self._greet, daemon=True).start()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self._listener.getsockname()[1]}"

    @property
    def peer(self) -> socket.socket:
        assert self._there.wait(60), "nobody came"
        assert self._peer is not None
        return self._peer

    def say(self, data: bytes) -> None:
        self.peer.sendall(data)

    def read(self, size: int) -> bytes:
        """The next `size` bytes that the client sent."""
        data = b""
        while len(data) < size:
            data += self.peer.recv(size - len(data))
        return data

    def hang_up(self) -> None:
        self.peer.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._listener.close()
        if self._peer is not None:
            self._peer.close()

    def _greet(self) -> None:
        try:
            self._peer = self._listener.accept()[0]
            if self._hello:
                self._peer.recv(65536)
                self._peer.sendall(self._hello)
        except OSError:
            return  # the test is over
        finally:
            self._there.set()


def answers(link: Link, count: int) -> list[Any]:
    """The next `count` answers to posted commands."""
    found: list[Any] = []
    until(lambda: found.extend(link.poll()) or len(found) >= count, f"{count} answers")
    return found
