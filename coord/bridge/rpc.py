"""JSON-RPC 2.0, one object per line, over two descriptors. No line that comes in can end the bridge, and only answers and
notifications go out."""

from __future__ import annotations

import json
import math
import os
import select
from collections import deque
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_BYTES = 1 << 20
MALFORMED, INVALID, UNKNOWN_METHOD, BAD_PARAMS, INTERNAL, NOT_OPEN = -32700, -32600, -32601, -32602, -32603, -32001


class RpcError(Exception):
    """An error answer."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


class Request:
    """A request; without an `id` (`asked` false) it is carried out and not answered."""

    __slots__ = ("asked", "id", "method", "params")

    def __init__(self, method: str, params: Any, id: str | int | float | None, asked: bool) -> None:
        self.method, self.params, self.id, self.asked = method, params, id, asked


def parse(line: bytes | None) -> Request:
    """The request of a line (None: it was too long). Raises `RpcError`, `Unanswerable` where an id could be read."""
    if line is None:
        raise RpcError(INVALID, f"a line may have {MOST_BYTES} bytes at most; this one was skipped")
    try:
        found = _decode(line.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise RpcError(MALFORMED, f"not a JSON line: {str(error)[:200]}") from None
    if not isinstance(found, dict):
        raise RpcError(INVALID, "a line must be one JSON object; batches are not supported")
    asked, id = "id" in found, found.get("id")
    # (1e999 is infinite, which cannot be written in an answer.)
    if asked and (isinstance(id, bool) or not isinstance(id, (str, int, float)) or id in (math.inf, -math.inf)):
        raise RpcError(INVALID, "id must be a text or a number")
    if not isinstance(found.get("method"), str):
        raise Unanswerable(id, "method must be a text")
    return Request(found["method"], found.get("params"), id, asked)


class Unanswerable(RpcError):
    """An object that is no request, but has an id to answer to."""

    def __init__(self, id: Any, text: str) -> None:
        super().__init__(INVALID, text)
        self.id = id


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


_decode = json.JSONDecoder(parse_constant=_refuse).decode
_encode = json.JSONEncoder(separators=(",", ":")).encode  # json.loads and dumps would make these anew for each line


class Lines:
    """Lines from a descriptor. `inbox` holds them in order, None for one that was too long; `ended` is set after the last,
    and told to `at_end`."""

    def __init__(self, fd: int, at_end: Callable[[], None]) -> None:
        self.inbox: deque[bytes | None] = deque()
        self.ended = False
        self.fd = fd
        self._at_end = at_end
        self._parts: list[bytes] = []
        self._size = 0
        self._skips = False

    def fill(self) -> None:
        """Reads what is there, or waits for it."""
        data = self._next()
        *lines, rest = data.split(b"\n")
        for part in lines:
            self._add(part)
            self._finish()
        self._add(rest)
        if not data:
            self.ended = True
            if self._size or self._skips:
                self._finish()  # a last line without its end
            self._at_end()

    def _next(self) -> bytes:
        try:
            return os.read(self.fd, 65536)
        except OSError:
            return b""

    def _add(self, part: bytes) -> None:
        if self._size + len(part) > MOST_BYTES and not self._skips:
            self._skips = True
            self._parts.clear()
            self.inbox.append(None)  # answered at once: its end may never come
        if not self._skips:
            self._parts.append(part)
            self._size += len(part)

    def _finish(self) -> None:
        if not self._skips:
            self.inbox.append(b"".join(self._parts))
        self._parts, self._size, self._skips = [], 0, False


class Output:
    """Where answers and notifications go. A host that has gone is noticed at the end of its input, so it is no error.

    While the host does not read, what it writes is still taken in (`lines`): it may write all it has before it reads.
    """

    def __init__(self, fd: int, lines: Lines) -> None:
        self._fd, self._lines = fd, lines
        self.broken = False

    def answer(self, id: Any, result: Any) -> None:
        self._write({"jsonrpc": "2.0", "id": id, "result": result})

    def error(self, id: Any, code: int, text: str) -> None:
        self._write({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": text}})

    def notify(self, method: str, params: Any) -> None:
        self._write({"jsonrpc": "2.0", "method": method, "params": params})

    def _write(self, message: dict[str, Any]) -> None:
        data = memoryview(_encode(message).encode() + b"\n")
        try:
            while data and not self.broken:
                self._until_writable()
                data = data[os.write(self._fd, data[: select.PIPE_BUF]) :]  # so much goes without waiting
        except OSError:
            self.broken = True

    def _until_writable(self) -> None:
        lines = self._lines
        while True:
            poller = select.poll()
            poller.register(self._fd, select.POLLOUT)
            if not lines.ended:
                poller.register(lines.fd, select.POLLIN)
            ready: dict[int, int] = dict(poller.poll())
            if self._fd in ready:
                return
            lines.fill()
