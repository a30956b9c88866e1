"""One connection to a single server: RESP3 through hiredis over a plain socket.

`import redis` takes 150 ms, this 2. Answers and messages of subscribed channels share the connection, so a waiter
subscribes and asks in one write and nothing can fall between.
"""

from __future__ import annotations

import _socket
import time

import hiredis

from coord.errors import CoordError, Unavailable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from coord.wire.url import Address

_NOTHING = object()
_packed: Any = hiredis.pack_command  # its stub wants the type of every word


class ServerError(CoordError):
    """An error reply; `code` is its first word (NOSCRIPT, WRONGPASS, …)."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.code = text.split(" ", 1)[0]


class Link:
    """A connection. Not for several threads at once.

    `call` waits for its answer; `post` does not: its answer comes from `poll`, in order. Messages gather in `pushes`
    as lists (`["message", channel, text]`). Every fault of the connection is `Unavailable` and ends it.
    """

    __slots__ = ("_due", "_reader", "_socket", "address", "patience", "pushes")

    def __init__(self, address: Address, timeout: float = 3.0) -> None:
        self.address = address
        self.pushes: list[list[object]] = []
        self.patience = 3.0  # seconds to wait for an answer, unless a call says otherwise
        self._due = 0
        self._reader = hiredis.Reader(
            replyError=ServerError, encoding="utf-8", errors="replace", notEnoughData=_NOTHING
        )
        self._socket = _connect(address, timeout)
        try:
            self._greet(timeout)
        except BaseException:
            self.close()
            raise

    def _greet(self, timeout: float) -> None:
        words = ["HELLO", "3"]
        if self.address.password is not None:
            words += ["AUTH", self.address.user or "default", self.address.password]
        try:
            self.call(*words, timeout=timeout)
            if self.address.db:
                self.call("SELECT", self.address.db, timeout=timeout)
        except ServerError as error:
            raise Unavailable(f"{self.address.shown} refused the connection: {printable(error)}") from None

    def fileno(self) -> int:
        return self._socket.fileno()

    def send(self, *commands: tuple[object, ...]) -> None:
        """Writes commands in one go; each is owed one answer, except SUBSCRIBE, which answers as a message."""
        data = b"".join([_packed(command) for command in commands])
        self._due += sum(1 for command in commands if command[0] != "SUBSCRIBE")
        try:
            self._socket.settimeout(3.0)
            self._socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            pass  # a server that takes no more clients says so and hangs up: what it said is still to be read
        except OSError as error:
            raise self._broken(error) from None
        except BaseException:
            self.close()  # interrupted (Ctrl-C): half a command may be on its way, nothing can follow it
            raise

    def post(self, *words: object) -> None:
        """Sends a command without waiting for its answer."""
        self.send(words)

    def call(self, *words: object, timeout: float | None = None) -> object:
        """Sends a command and returns its answer; raises `ServerError` for an error reply."""
        self.send(words)
        return self.answer(timeout)

    def answer(self, timeout: float | None = None) -> object:
        """Waits for the last answer owed (earlier ones are dropped: nobody asked for them)."""
        reply: object = None
        until = time.monotonic() + (self.patience if timeout is None else timeout)
        while self._due:
            reply = self._next(until)
            self._due -= 1
        if isinstance(reply, ServerError):
            raise reply
        return reply

    def poll(self) -> list[object]:
        """The answers that are here already (error replies as `ServerError` values), without waiting."""
        while self._take(0.0):
            pass  # SIGIO tells of changes: what is left here would not be told of again
        replies: list[object] = []
        while (reply := self._parsed()) is not _NOTHING:
            self._due -= 1
            replies.append(reply)
        return replies

    def close(self) -> None:
        self._socket.close()

    def _next(self, until: float) -> object:
        while (reply := self._parsed()) is _NOTHING:
            left = until - time.monotonic()
            if left <= 0:
                raise self._broken(TimeoutError())
            self._take(left)
        return reply

    def _parsed(self) -> object:
        """The next answer, `_NOTHING` when there is none yet; messages are put aside."""
        while True:
            try:
                reply = self._reader.gets()
            except hiredis.ProtocolError as error:
                raise self._broken(error) from None
            if not isinstance(reply, hiredis.PushNotification):
                return reply
            self.pushes.append(list(reply))

    def _take(self, timeout: float) -> bool:
        """Takes what is here, or comes within `timeout` seconds; whether there may be more."""
        try:
            self._socket.settimeout(timeout)
            data = self._socket.recv(65536)
        except (BlockingIOError, InterruptedError):
            return False
        except OSError as error:
            raise self._broken(error) from None
        if not data:
            raise self._broken(ConnectionResetError("the server closed the connection"))
        self._reader.feed(data)
        return len(data) == 65536

    def _broken(self, error: Exception) -> Unavailable:
        self.close()
        why = "no answer in time" if isinstance(error, TimeoutError) else getattr(error, "strerror", None) or error
        return Unavailable(f"lost the server {self.address.shown}: {why}")


def _connect(address: Address, timeout: float) -> _socket.socket:
    error: Exception | None = None
    for family, target in _targets(address):
        try:
            connection = _socket.socket(family, _socket.SOCK_STREAM)
        except OSError as failed:  # no descriptor is left, or no such family
            error = failed
            continue
        connection.settimeout(timeout)
        try:
            connection.connect(target)
        except OSError as failed:
            error = failed
            connection.close()
            continue
        if family != _socket.AF_UNIX:
            connection.setsockopt(_socket.IPPROTO_TCP, _socket.TCP_NODELAY, 1)
        return connection
    raise Unavailable(f"no server at {address.shown}: {getattr(error, 'strerror', None) or error}")


def _targets(address: Address) -> list[tuple[int, Any]]:
    if address.path:
        return [(_socket.AF_UNIX, address.path)]
    host, port = address.hosts[0]
    name = host.encode() if host.isascii() else host  # as bytes: text would import the IDNA codec, 11 ms
    if host.replace(".", "").isdigit():
        return [(_socket.AF_INET, (name, port))]
    try:
        found = _socket.getaddrinfo(name, port, 0, _socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise Unavailable(f"no server at {address.shown}: {getattr(error, 'strerror', None) or error}") from None
    return [(entry[0], entry[4]) for entry in found]


def printable(error: object) -> str:
    """What a server said, on one line and without what would reach into a terminal."""
    return "".join(c if c.isprintable() else " " for c in str(error))
