"""The interface of `Link` over redis-py: Sentinel, Cluster and TLS.

What a cluster cannot do is left out of the promise: its PUBLISH counts listeners of one node only, so the board does
not rely on the count (`Address.plain` is false) and an unconfirmed grant lapses instead.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import redis
import redis.cluster
import redis.sentinel

from coord.errors import Unavailable
from coord.wire.link import ServerError

if TYPE_CHECKING:
    from coord.wire.url import Address


class ClientLink:
    """A connection through redis-py, with the methods of `Link`. There is no descriptor to watch (`fileno` is -1): the
    caller polls."""

    def __init__(self, address: Address, timeout: float = 3.0) -> None:
        self.address = address
        self.pushes: list[list[object]] = []
        self._posted: deque[object] = deque()
        self._faults: tuple[type[Exception], ...] = (redis.ConnectionError, redis.TimeoutError, OSError)
        try:
            self._client: Any = _client(address, timeout)
            self._messages: Any = self._client.pubsub(ignore_subscribe_messages=True)
            self._client.ping()
        except redis.RedisError as error:
            raise Unavailable(f"no server at {address.shown}: {_line(error)}") from None

    def fileno(self) -> int:
        return -1

    def send(self, *commands: tuple[object, ...]) -> None:
        for command in commands:
            self._posted.append(self._execute(*command))

    def post(self, *words: object) -> None:
        """Runs the command; `poll` brings its answer."""
        self.send(words)

    def call(self, *words: object, timeout: float = 3.0) -> object:
        """Runs a command and returns its answer; raises `ServerError` for an error reply."""
        self.send(words)
        return self.answer(timeout)

    def answer(self, timeout: float = 3.0) -> object:
        reply = self._posted.pop() if self._posted else None
        self._posted.clear()
        if isinstance(reply, ServerError):
            raise reply
        return reply

    def poll(self) -> list[object]:
        replies = [reply for reply in self._posted if reply is not _SUBSCRIBED]
        self._posted.clear()
        try:
            while self._messages.subscribed and (message := self._messages.get_message(timeout=0)):
                self.pushes.append([message["type"], message["channel"], message["data"]])
        except self._faults as error:
            raise self._broken(error) from None
        return replies

    def close(self) -> None:
        try:
            self._messages.close()
            self._client.close()
        except redis.RedisError:
            pass  # it is gone already

    def _execute(self, *words: object) -> object:
        try:
            if words[0] == "SUBSCRIBE":
                self._messages.subscribe(*words[1:])
                return _SUBSCRIBED
            return self._client.execute_command(*words)
        except self._faults as error:
            raise self._broken(error) from None
        except redis.ResponseError as error:
            return ServerError(_coded(error))
        except redis.RedisError as error:
            raise self._broken(error) from None

    def _broken(self, error: Exception) -> Unavailable:
        self.close()
        return Unavailable(f"lost the server {self.address.shown}: {_line(error)}")


_SUBSCRIBED = object()
_cluster: Any = redis.cluster  # redis-py is typed in parts only
_sentinel: Any = redis.sentinel


def _client(address: Address, timeout: float) -> Any:
    common: dict[str, Any] = {
        "username": address.user,
        "password": address.password,
        "socket_timeout": max(timeout, 3.0),
        "socket_connect_timeout": timeout,
        "decode_responses": True,
    }
    if address.scheme == "redis+cluster":
        nodes = [_cluster.ClusterNode(host, port) for host, port in address.hosts]
        return _cluster.RedisCluster(startup_nodes=nodes, **common)
    if address.scheme == "redis+sentinel":
        sentinels = _sentinel.Sentinel(address.hosts, socket_timeout=timeout)
        return sentinels.master_for(address.service, db=address.db, **common)
    host, port = address.hosts[0]
    return redis.Redis(host=host, port=port, db=address.db, ssl=True, **common)


def _coded(error: redis.ResponseError) -> str:
    """redis-py takes the code off some error texts and makes a class of it."""
    codes = {"NoScriptError": "NOSCRIPT", "ReadOnlyError": "READONLY", "NoPermissionError": "NOPERM"}
    code = codes.get(type(error).__name__)
    return f"{code} {error}" if code else str(error)


def _line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
