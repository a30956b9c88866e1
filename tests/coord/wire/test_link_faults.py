"""coord.wire.link: every fault of the connection is `Unavailable`, on servers that the tests play themselves."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Callable
from typing import Any

import pytest

from coord.errors import Unavailable
from coord.wire import Link, ServerError, connect, link
from tests.coord.wire.puppet import Puppet, answers
from tests.servers import free_port
from tests.waiting import Awake, until


def test_ipv6() -> None:
    """`[::1]` is reached over IPv6."""
    try:
        listener = socket.create_server(("::1", 0), family=socket.AF_INET6)
    except OSError:
        pytest.skip("no IPv6 on this machine")
    with listener:
        listener.listen()
        with pytest.raises(Unavailable, match="no answer in time"):
            connect(f"redis://[::1]:{listener.getsockname()[1]}", timeout=0.05)
        peer = listener.accept()[0]
        assert peer.recv(6) == b"*2\r\n$5"
        peer.close()


def test_answers_in_pieces(puppet: Puppet, played: Link) -> None:
    """An answer that comes byte by byte is one answer, with a message between its bytes' neighbours put aside."""
    played.post("X")
    found: list[Any] = []
    whole = b">3\r\n+message\r\n+c\r\n+text\r\n*2\r\n$2\r\nab\r\n:7\r\n"
    for byte in whole:
        assert found == []
        puppet.say(bytes([byte]))
        found += played.poll()
    until(lambda: found.extend(played.poll()) or found, "the answer")
    assert found == [["ab", 7]]
    assert played.pushes == [["message", "c", "text"]]


def gone(puppet: Puppet, said: bytes) -> Callable[[], None]:
    def end() -> None:
        puppet.say(said)
        puppet.hang_up()

    return end


@pytest.mark.parametrize("said", [b"", b"$10\r\nabc", b"*2\r\n+a\r\n", b">3\r\n+message\r\n"])
def test_a_server_that_goes_away_mid_answer(puppet: Puppet, played: Link, said: bytes) -> None:
    """Half an answer is no answer: Unavailable by `call` and by `poll`, and so is all that follows."""
    played.post("X")
    gone(puppet, said)()

    def lost() -> bool:
        try:
            assert played.poll() == []
        except Unavailable as error:
            return str(error).startswith(f"lost the server {puppet.url}: ")
        return False

    until(lost, "the connection is seen to be lost")
    with pytest.raises(Unavailable):
        played.call("PING")


def test_a_server_that_goes_away_while_a_call_waits(puppet: Puppet, played: Link) -> None:
    """A call whose server hangs up is Unavailable at once, not after its time-out."""
    puppet.hang_up()
    with Awake() as clock, pytest.raises(Unavailable):
        played.call("PING", timeout=10)
    assert clock.seconds < 5


def test_the_rest_of_an_answer_comes_too_late(puppet: Puppet, played: Link) -> None:
    """The time of a call is for the whole answer, not for each piece of it."""
    puppet.say(b"$10\r\nabc")
    with pytest.raises(Unavailable, match="no answer in time"):
        played.call("X", timeout=0.05)


@pytest.mark.parametrize(
    "said", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"220 mail ESMTP\r\n", b"SSH-2.0-x\r\n", b"\0\1\2\3", b"<html>\r\n"]
)
def test_a_port_that_speaks_something_else(said: bytes) -> None:
    """What is no Redis is Unavailable in one line, not a crash."""
    puppet = Puppet(said)
    with pytest.raises(Unavailable) as caught:
        connect(puppet.url, timeout=0.3)
    assert str(caught.value).isprintable()
    puppet.close()


@pytest.mark.parametrize(
    "error",
    [
        b"-ERR unknown command `HELLO`, with args beginning with: `3`, \r\n",
        b"-NOPROTO unsupported protocol version\r\n",
        b"-DENIED Redis is running in protected mode\r\n",
        b"-ERR max number of clients reached\r\n",
        b"-ERR \x1b[31mred\x07\r\n",
    ],
)
def test_a_refused_greeting(error: bytes) -> None:
    """A server that refuses the greeting is Unavailable, with its words and without its control characters."""
    puppet = Puppet(error)
    with pytest.raises(Unavailable, match="refused the connection") as caught:
        connect(puppet.url, timeout=30)
    assert str(caught.value).isprintable()
    puppet.close()


def test_a_server_that_never_greets() -> None:
    """A port that accepts and says nothing costs the time-out and no more."""
    puppet = Puppet(b"")
    with Awake() as clock, pytest.raises(Unavailable, match="no answer in time"):
        connect(puppet.url, timeout=0.1)
    assert clock.seconds < 2
    puppet.close()


@pytest.mark.parametrize(
    "url",
    [
        "redis://127.0.0.1:PORT", "redis://localhost:PORT", "unix:///no/such.sock", "unix:///tmp",
        "redis://no-such-host.invalid", "redis://" + "x" * 300, "redis://a..b", "redis://ä..b", "redis://1.2.3.4.5",
        "redis://999.1.1.1", "unix:///" + "x" * 200,
    ],
)  # fmt: skip
def test_nobody_there(url: str) -> None:
    """A host, port or path where no server is, or can be, is Unavailable in one line that names it."""
    url = url.replace("PORT", str(free_port()))
    with pytest.raises(Unavailable, match="no server at") as caught:
        connect(url, timeout=0.3)
    assert str(caught.value).isprintable()


def test_no_descriptor_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that has opened all it may is without a server, which is Unavailable as any other such case."""

    def refuses(*_: object) -> socket.socket:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(link._socket, "socket", refuses)
    with pytest.raises(Unavailable, match=r"no server at .*: Too many open files"):
        connect("redis://127.0.0.1:1", timeout=0.3)


def test_an_interrupted_write_ends_the_connection(puppet: Puppet, played: Link) -> None:
    """After Ctrl-C in the middle of a command nothing can be sent behind the half that is on its way."""

    class Interrupting:
        def __init__(self, inner: Any) -> None:
            self.inner = inner

        def sendall(self, data: bytes) -> None:
            self.inner.sendall(data[:3])
            raise KeyboardInterrupt

        def __getattr__(self, name: str) -> Any:
            return getattr(self.inner, name)

    played._socket = Interrupting(played._socket)  # type: ignore[assignment]
    with pytest.raises(KeyboardInterrupt):
        played.call("PING")
    assert puppet.read(3) == b"*1\r"
    with pytest.raises(Unavailable):
        played.poll()
    assert puppet.peer.recv(1) == b""


def test_the_kinds_of_answers(puppet: Puppet, played: Link) -> None:
    """All kinds of answers that RESP3 knows are understood: map, set (as a list), truth, fraction, nothing."""
    puppet.say(b"%1\r\n+a\r\n:1\r\n~1\r\n+b\r\n#t\r\n,1.5\r\n_\r\n")
    for _ in range(5):
        played.post("X")
    assert answers(played, 5) == [{"a": 1}, ["b"], True, 1.5, None]


def test_the_last_words_of_a_server_that_hangs_up(played: Link, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that takes no more clients says so and closes, perhaps before anything is written to it: that is read."""
    ours, theirs = socket.socketpair()
    theirs.sendall(b"-ERR max number of clients reached\r\n")
    theirs.close()
    monkeypatch.setattr(played, "_socket", ours)
    with pytest.raises(ServerError, match="max number of clients"):
        played.call("HELLO", "3")
    with pytest.raises(Unavailable, match="closed the connection"):
        played.call("PING")
