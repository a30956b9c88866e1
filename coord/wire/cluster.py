"""The interface of `Link` over redis-py: Sentinel, Cluster and TLS.

What a cluster cannot do is left out of the promise: its PUBLISH counts listeners of one node only, so the board does
not rely on the count (`Address.plain` is false) and an unconfirmed grant lapses instead.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import redis
import redis.cluster
import redis.sentinel
from redis.backoff import NoBackoff
from redis.retry import Retry

from coord.errors import Unavailable
from coord.wire.link import ServerError, printable

if TYPE_CHECKING:
    from coord.wire.url import Address

_FAULTS = (redis.RedisError, redis.exceptions.RedisClusterException, OSError)
"""What redis-py raises for a connection that does not work; RedisClusterException is no RedisError."""


class ClientLink:
    """A connection through redis-py, with the methods of `Link`. There is no descriptor to watch (`fileno` is -1): the
    caller polls."""

    def __init__(self, address: Address, timeout: float = 3.0) -> None:
        self.address = address
        self.pushes: list[list[object]] = []
        self.patience = 3.0  # as of `Link`, but the client's own time-out holds
        self._posted: list[object] = []
        self._client: Any = None
        self._messages: Any = None
        try:
            self._client = _client(address, timeout)
            self._client.ping()
            self._messages = self._client.pubsub()
        except _FAULTS as error:
            self.close()
            raise Unavailable(f"no server at {address.shown}: {_line(error)}") from None

    def fileno(self) -> int:
        return -1

    def send(self, *commands: tuple[object, ...]) -> None:
        """Runs commands one after another; each has one answer, except SUBSCRIBE, which answers as a message."""
        for command in commands:
            if command[0] == "SUBSCRIBE":
                self._subscribe(*command[1:])
            else:
                self._posted.append(self._execute(*command))

    def post(self, *words: object) -> None:
        """Runs the command; `poll` brings its answer."""
        self.send(words)

    def call(self, *words: object, timeout: float | None = None) -> object:
        """Runs a command and returns its answer; raises `ServerError` for an error reply."""
        self.send(words)
        return self.answer(timeout)

    def answer(self, timeout: float | None = None) -> object:
        reply = self._posted[-1] if self._posted else None
        self._posted.clear()
        if isinstance(reply, ServerError):
            raise reply
        return reply

    def poll(self) -> list[object]:
        replies = self._posted.copy()
        self._posted.clear()
        try:
            while self._messages is not None and self._messages.subscribed and self._heard(0.0):
                pass
        except _FAULTS as error:
            raise self._broken(error) from None
        return replies

    def close(self) -> None:
        for part in (self._messages, self._client):
            try:
                if part is not None:
                    part.close()
            except _FAULTS:
                pass  # it is gone already
        self._client = self._messages = None

    def _subscribe(self, *channels: object) -> None:
        """Returns when the server has confirmed: it is another connection than the one that asks, and what is granted
        in between would be told to nobody."""
        until = time.monotonic() + 3.0
        missing = {str(channel) for channel in channels}
        try:
            self._usable()
            self._messages.subscribe(*channels)
            while missing:
                left = until - time.monotonic()
                if left <= 0:
                    raise redis.TimeoutError("no answer in time")
                missing.discard(self._heard(left).get("channel"))
        except _FAULTS as error:
            raise self._broken(error) from None

    def _heard(self, timeout: float) -> dict[str, Any]:
        """The next message, empty when there is none; what others published is kept in `pushes`."""
        message: dict[str, Any] = self._messages.get_message(timeout=timeout) or {}
        if message.get("type") == "message":
            self.pushes.append(["message", message["channel"], message["data"]])
        return message

    def _execute(self, *words: object) -> object:
        try:
            self._usable()
            return self._client.execute_command(*words)
        except redis.ResponseError as error:
            return ServerError(_coded(error))
        except _FAULTS as error:
            raise self._broken(error) from None

    def _usable(self) -> None:
        if self._client is None:
            raise redis.ConnectionError("the connection is closed")

    def _broken(self, error: Exception) -> Unavailable:
        self.close()
        return Unavailable(f"lost the server {self.address.shown}: {_line(error)}")


_cluster: Any = redis.cluster  # redis-py is typed in parts only
_sentinel: Any = redis.sentinel


def _client(address: Address, timeout: float) -> Any:
    common: dict[str, Any] = {
        "username": address.user,
        "password": address.password,
        "socket_timeout": max(timeout, 3.0),
        "socket_connect_timeout": timeout,
        "decode_responses": True,
        "encoding_errors": "replace",
    }
    # Who calls tries again by itself, and then says first what it really holds: nothing may connect anew in silence.
    once: dict[str, Any] = {"retry": Retry(NoBackoff(), 0)}
    if address.scheme == "redis+cluster":
        nodes = [_cluster.ClusterNode(host, port) for host, port in address.hosts]
        return _cluster.RedisCluster(startup_nodes=nodes, **once, **common)
    if address.scheme == "redis+sentinel":
        asking = {"socket_timeout": timeout, "socket_connect_timeout": timeout, "decode_responses": True, **once}
        sentinels = _sentinel.Sentinel(address.hosts, sentinel_kwargs=asking)
        return sentinels.master_for(address.service, db=address.db, **once, **common)
    host, port = address.hosts[0]
    return redis.Redis(host=host, port=port, db=address.db, ssl=True, **once, **common)


def _coded(error: redis.ResponseError) -> str:
    """The error as the server said it: redis-py takes the code off some texts and makes a class of it."""
    for code, kind in _CODES.items():
        if type(error) is kind and not str(error).startswith(code):
            return f"{code} {error}"
    return str(error)


_CODES: dict[str, Any] = {
    "NOSCRIPT": redis.exceptions.NoScriptError,
    "READONLY": redis.ReadOnlyError,
    "NOPERM": redis.exceptions.NoPermissionError,
    "OOM": redis.exceptions.OutOfMemoryError,
    "TRYAGAIN": redis.exceptions.TryAgainError,
    "CLUSTERDOWN": redis.exceptions.ClusterDownError,
    "MASTERDOWN": redis.exceptions.MasterDownError,
    "MOVED": redis.exceptions.MovedError,
    "ASK": redis.exceptions.AskError,
}


def _line(error: Exception) -> str:
    return " ".join(printable(error).split()) or type(error).__name__
