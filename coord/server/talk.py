"""A few words with a server that may turn out to be anything: one write, the answers, and that's it.

For looking at servers before one is chosen; what lives on a board speaks through `coord.wire`.
"""

from __future__ import annotations

import _socket
import os
import sys
import time

import hiredis

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

Command = tuple[str | int | float | bytes | memoryview, ...]
Where = str | tuple[str, int]
"""A socket's path, or host and port."""


class NotRedis(OSError):
    """What answered does not speak the Redis protocol."""


def ask(where: Where, commands: Sequence[Command], timeout: float, *, own: bool = False) -> list[object]:
    """The answers (RESP2, text; an error reply is a hiredis.ReplyError) to `commands`, within `timeout`
    seconds in all.

    OSError when nobody listens, nobody answers in time or the connection breaks; NotRedis when it is no
    Redis; with `own` PermissionError when what listens on that socket is another user's process.
    """
    end = time.monotonic() + timeout
    sock = _dial(where, timeout)
    try:
        if own:
            _check_peer(sock, str(where))
        # The stub of pack_command has a tuple of one word only.
        packed = [hiredis.pack_command(command) for command in commands]  # type: ignore[arg-type]
        try:
            _send(sock, b"".join(packed), end)
        except (BrokenPipeError, ConnectionResetError):
            pass  # a server that takes no more clients says so and hangs up: what it said is still to be read
        return _answers(sock, len(commands), end)
    finally:
        sock.close()


def _dial(where: Where, timeout: float) -> _socket.socket:
    targets: list[tuple[int, Any]] = [(_socket.AF_UNIX, where)]
    if not isinstance(where, str):
        host = (
            where[0].encode() if where[0].isascii() else where[0]
        )  # as bytes: text would import the IDNA codec, 11 ms
        targets = [(found[0], found[4]) for found in _socket.getaddrinfo(host, where[1], 0, _socket.SOCK_STREAM)]
    refused: OSError = ConnectionRefusedError("it has no address")
    for family, target in targets:
        sock = _socket.socket(family, _socket.SOCK_STREAM)
        try:
            sock.settimeout(timeout)
            sock.connect(target)
        except OSError as error:
            sock.close()
            refused = error
            continue
        return sock
    raise refused


def _send(sock: _socket.socket, data: bytes, end: float) -> None:
    while data:
        sock.settimeout(_left(end))
        data = data[sock.send(data) :]


def _answers(sock: _socket.socket, count: int, end: float) -> list[object]:
    reader = hiredis.Reader(encoding="utf-8", errors="replace", notEnoughData=Ellipsis)
    answers: list[object] = []
    while len(answers) < count:
        sock.settimeout(_left(end))
        data = sock.recv(65536)
        if not data:
            raise ConnectionResetError("it closed the connection")
        try:
            reader.feed(data)
            while (answer := reader.gets()) is not Ellipsis:
                answers.append(answer)
        except hiredis.ProtocolError as error:
            raise NotRedis("it does not speak the Redis protocol") from error
    return answers[:count]  # what speaks something else may say more than it was asked


def _left(end: float) -> float:
    left = end - time.monotonic()
    if left <= 0:
        raise TimeoutError("it does not answer")
    return left


def _check_peer(sock: _socket.socket, path: str) -> None:
    option = getattr(_socket, "SO_PEERCRED", None)
    if option is None:
        return  # macOS: the owner of the folder and the socket was checked by the caller
    credentials = sock.getsockopt(_socket.SOL_SOCKET, option, 12)
    uid = int.from_bytes(credentials[4:8], sys.byteorder)
    if uid != os.geteuid():
        raise PermissionError(f"the server at {path} runs as another user")
