"""What answers at an address, and whether a board can live there."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator

import pytest

from coord.keys import Keys
from coord.server import probe
from coord.wire.url import Address
from tests.servers import KINDS, Server, as_node, free_port
from tests.waiting import Awake

Fake = Callable[[bytes], str]


@pytest.fixture(params=KINDS)
def server(request: pytest.FixtureRequest, folder: str) -> Iterator[Server]:
    with Server(request.param, folder=folder) as running:
        yield running


def look(url: str, timeout: float = 3.0) -> probe.Look:
    return probe.look(Address(url), "app", timeout)


def bulk(text: str) -> bytes:
    return f"${len(text)}\r\n{text}\r\n".encode()


def test_good_one(server: Server) -> None:
    """A supported server on which nobody lives will do, on its socket and on its port."""
    for url in (server.url, server.tcp):
        seen = look(url)
        assert (seen.reached, seen.problem, seen.unfit, seen.living) == (True, None, None, 0)


def test_who_lives_there(server: Server) -> None:
    """Leases on this scope's board are counted; its maker is known when it was somebody else."""
    server.send(f"ZADD {Keys('app').leases} 1 j|a 2 j|b".encode())
    server.send(f"HSET {Keys('app').meta} uid {os.getuid()}".encode())
    assert (look(server.url).living, look(server.url).owner) == (2, None)
    server.send(f"HSET {Keys('app').meta} uid {os.getuid() + 1}".encode())
    unfit = look(server.url).unfit
    assert unfit is not None
    assert "another user made" in unfit
    server.send(f"SET {Keys('app').meta} x".encode())
    assert look(server.url).problem == "has something else under the keys of this scope"


def test_password(server: Server) -> None:
    """Without the password, with a wrong one and with the right one."""
    server.send(b"CONFIG SET requirepass hush")
    port = server.port
    assert look(server.tcp).problem == "wants a password"
    assert look(f"redis://:wrong@127.0.0.1:{port}").problem == "refuses the user or password"
    assert look(f"redis://:hush@127.0.0.1:{port}/1").problem is None


def test_evicting(server: Server) -> None:
    """A server that may drop keys is no problem when named, but is not taken unasked."""
    server.send(b"CONFIG SET maxmemory-policy allkeys-lru")
    seen = look(server.url)
    assert (seen.problem, seen.evicts) == (None, "allkeys-lru")
    assert seen.unfit == "may evict keys (maxmemory-policy allkeys-lru)"


def test_limited_user(server: Server) -> None:
    """A user who may neither ask INFO nor CONFIG can use the server; its version is told by HELLO."""
    server.send(b"ACL SETUSER me on >pw resetchannels ~coord:* &coord:* +@all -info -config")
    seen = look(f"redis://me:pw@127.0.0.1:{server.port}")
    assert (seen.problem, seen.evicts, seen.living) == (None, None, 0)


def test_user_who_may_nothing(server: Server) -> None:
    """A user without the commands of a board is not found out here, but the look still does not raise."""
    server.send(b"ACL SETUSER me on >pw ~x:* +ping")
    assert look(f"redis://me:pw@127.0.0.1:{server.port}").living is None


def test_replica(server: Server) -> None:
    """A replica can't be written, so no board can live there."""
    server.send(f"REPLICAOF 127.0.0.1 {free_port()}".encode())
    problem = look(server.url).problem
    assert problem is not None
    assert "replica" in problem


def test_node_of_a_cluster(folder: str) -> None:
    """A node of a cluster is to be named as one."""
    with Server("redis7", *as_node("redis7"), folder=folder) as running:
        problem = look(running.tcp).problem
    assert problem is not None
    assert "cluster" in problem


@pytest.mark.parametrize(
    ("info", "problem"),
    [
        ("redis_version:5.0.7\r\n", "runs what cannot be used: Redis 5.0.7 is too old, 6.2 or later is needed"),
        ("redis_version:7.2.4\r\nvalkey_version:7.1.0\r\n", "Valkey 7.1.0 is too old, 7.2 or later is needed"),
        ("redis_version:255.255.255\r\n", None),
        ("redis_version:unstable\r\n", None),
        ("", None),
    ],
)
def test_versions(fake: Fake, info: str, problem: str | None) -> None:
    """Old versions are named with what is needed; versions that say nothing are let through."""
    seen = look(fake(bulk(info) + b"$-1\r\n:0\r\n"))
    assert (seen.problem or "").endswith(problem or "")
    assert (seen.problem is None) == (problem is None)


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "is not a Redis server"),
        (b"\x15\x03\x01\x00\x02\x02\x50", "is not a Redis server"),
        (b"-LOADING Redis is loading the dataset in memory\r\n" * 3, "is still loading its data"),
        (b"-DENIED Redis is running in protected mode\r\n" * 3, "refuses connections (protected mode)"),
        (b"-ERR \x1b[31mred\r\n" * 3, "refuses: ERR"),
    ],
)
def test_something_else(fake: Fake, answer: bytes, problem: str) -> None:
    """A web server, a TLS port, a server that refuses: each is told apart."""
    seen = look(fake(answer))
    assert seen.reached
    assert seen.problem is not None
    assert seen.problem.startswith(problem)


def test_silence_is_cut_short(fake: Fake) -> None:
    """What takes the connection and says nothing costs the time-out and no more."""
    with Awake() as clock:
        seen = look(fake(b""), 0.2)
    assert (seen.problem, seen.reached) == ("does not answer", True)
    assert clock.seconds < 1.0


def test_nothing_there_is_cheap() -> None:
    """Where nothing listens the answer is there within a few milliseconds."""
    url = f"redis://127.0.0.1:{free_port()}"
    times = []
    for _ in range(20):
        before = time.perf_counter()
        seen = look(url)
        times.append(time.perf_counter() - before)
        assert (seen.reached, seen.problem) == (False, "does not run: nothing listens there")
    assert min(times) < 0.01


def test_no_such_host() -> None:
    """A host without an address is a problem, not an exception."""
    seen = look("redis://no-such-host.invalid:1")
    assert not seen.reached
    assert seen.problem is not None
    assert seen.problem.startswith("cannot be reached")


def test_a_client_names_the_server_once() -> None:
    """What redis-py says of a server comes behind our words for it, which name it already."""
    address = Address(f"rediss://127.0.0.1:{free_port()}")
    problem = probe.look(address, "app", 3.0).problem
    assert problem is not None
    assert problem.startswith("cannot be reached: ")
    assert address.shown not in problem
