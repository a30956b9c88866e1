"""coord.wire.link: answers in order, messages apart from them, and every fault of the connection is `Unavailable`."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from typing import Any

import pytest

from coord.errors import Unavailable
from coord.wire import Link, ServerError, connect
from tests.coord.wire.puppet import Puppet
from tests.servers import Server, free_port
from tests.waiting import until


def answers(link: Link, count: int) -> list[Any]:
    """The next `count` answers to posted commands."""
    found: list[Any] = []
    until(lambda: found.extend(link.poll()) or len(found) >= count, f"{count} answers")
    return found


def messages(link: Link, count: int) -> list[list[object]]:
    """The first `count` messages that others published, once they are here."""

    def heard() -> list[list[object]]:
        assert link.poll() == []
        return [push for push in link.pushes if push[0] == "message"]

    return until(lambda: heard() if len(heard()) >= count else [], f"{count} messages")


# -- on real servers


def test_call_answers(link: Link) -> None:
    """A call returns its answer: text, number, nothing, list; a key's bytes that are no UTF-8 do no harm."""
    assert link.call("SET", "link-k", "ä", "GET") in (None, "ä")
    assert link.call("GET", "link-k") == "ä"
    assert link.call("INCR", f"link-{os.urandom(4).hex()}") == 1
    assert link.call("GET", "link-none") is None
    assert link.call("EVAL", "return {1, 'a', {}}", 0) == [1, "a", []]
    assert link.call("EVAL", r"return '\255'", 0) == "\ufffd"


def test_an_error_reply_has_its_code(link: Link) -> None:
    """An error reply is a ServerError whose code is its first word; the connection goes on."""
    with pytest.raises(ServerError) as caught:
        link.call("EVALSHA", "0" * 40, 0)
    assert caught.value.code == "NOSCRIPT"
    assert link.call("PING") == "PONG"


def test_posted_commands_are_answered_in_order(link: Link) -> None:
    """`poll` brings the answers to posted commands in the order in which they were posted, errors among them as values."""
    for word in ("a", "b"):
        link.post("ECHO", word)
    link.post("NOSUCH")
    link.post("ECHO", "c")
    found = answers(link, 4)
    assert found[:2] == ["a", "b"]
    assert isinstance(found[2], ServerError)
    assert found[3] == "c"


def test_a_call_takes_the_place_of_unasked_answers(link: Link) -> None:
    """A call after posted commands returns its own answer; theirs are gone, and nothing is out of step afterwards."""
    link.post("ECHO", "posted")
    assert link.call("ECHO", "called") == "called"
    assert link.poll() == []
    assert link.call("ECHO", "next") == "next"


def test_subscribe_and_ask_in_one_write(server: Server, link: Link) -> None:
    """A message published after a pipelined SUBSCRIBE and command reaches us, apart from the answers."""
    with_other = connect(server.url)
    channel = f"link-{os.urandom(4).hex()}"
    link.send(("SUBSCRIBE", channel, channel + "2"), ("ECHO", "asked"))
    assert link.answer() == "asked"
    assert with_other.call("PUBLISH", channel, "one") == 1
    assert with_other.call("PUBLISH", channel + "2", "two") == 1
    assert messages(link, 2) == [["message", channel, "one"], ["message", channel + "2", "two"]]
    with_other.close()


def test_messages_between_answers(server: Server, link: Link) -> None:
    """A client that publishes to itself gets message and answer each in its own place."""
    channel = f"link-{os.urandom(4).hex()}"
    link.call("SUBSCRIBE", channel)
    for number in range(3):
        assert link.call("PUBLISH", channel, number) == 1
    assert [push[2] for push in messages(link, 3)] == ["0", "1", "2"]


def test_huge_answers_and_questions(link: Link) -> None:
    """Ten megabytes go and come whole."""
    text = "x" * 10_000_000
    assert link.call("ECHO", text) == text
    link.post("ECHO", text)
    assert answers(link, 1) == [text]


def test_poll_never_waits(link: Link) -> None:
    """While the server is busy `poll` says nothing, at once; the answer is there when it has come."""
    link.post("BLPOP", f"link-{os.urandom(4).hex()}", "0.2")
    began = time.monotonic()
    assert link.poll() == []
    assert time.monotonic() - began < 0.1
    assert answers(link, 1) == [None]


def test_a_call_that_takes_too_long_ends_the_connection(link: Link) -> None:
    """No answer within the time given is Unavailable, and a late one can't be taken for the next: the link is closed."""
    with pytest.raises(Unavailable, match="no answer in time"):
        link.call("BLPOP", "link-none", 0, timeout=0.05)
    for use in (lambda: link.call("PING"), lambda: link.post("PING"), link.poll):
        with pytest.raises(Unavailable):
            use()


def test_user_and_password(server: Server) -> None:
    """A user of its own logs in with its password; the text about a wrong one names no password."""
    admin = connect(server.url)
    user = f"u{os.urandom(4).hex()}"
    admin.call("ACL", "SETUSER", user, "on", ">p@ss word", "~*", "+@all", "resetchannels", "&*")
    link = connect(server.url.replace("unix://", f"unix://{user}:p%40ss%20word@"))
    assert link.call("ACL", "WHOAMI") == user
    link.close()
    with pytest.raises(Unavailable, match="WRONGPASS") as caught:
        connect(server.url.replace("unix://", f"unix://{user}:hunter2@"))
    assert "hunter2" not in str(caught.value)
    assert "hunter2" not in repr(caught.value.__context__ and caught.value.__context__.args)
    admin.call("ACL", "DELUSER", user)
    admin.close()


def test_a_password_that_is_missing(tmp_path: object, server: Server) -> None:
    """A server that wants a password says so at the first command, which is Unavailable on connecting."""
    admin = connect(server.url)
    admin.call("CONFIG", "SET", "requirepass", "p")
    try:
        with pytest.raises(Unavailable, match="NOAUTH"):
            connect(server.url)
        assert connect(server.url.replace("unix://", "unix://:p@")).call("PING") == "PONG"
    finally:
        admin.call("CONFIG", "SET", "requirepass", "")
        admin.close()


def test_a_database_of_its_own(server: Server) -> None:
    """`/3` and `?db=3` select that database; one that is not there is Unavailable."""
    key = f"link-{os.urandom(4).hex()}"
    one, other = connect(f"{server.url}?db=3"), connect(f"{server.tcp}/3")
    one.call("SET", key, "here")
    assert other.call("GET", key) == "here"
    assert connect(server.url).call("GET", key) is None
    one.call("DEL", key)
    with pytest.raises(Unavailable, match="out of range"):
        connect(f"{server.tcp}/9999")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_by_number_and_by_name(server: Server, host: str) -> None:
    """A host may be given by number or by name."""
    assert connect(f"redis://{host}:{server.port}").call("PING") == "PONG"


# -- on a server that the test plays


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
    began = time.monotonic()
    with pytest.raises(Unavailable):
        played.call("PING", timeout=5)
    assert time.monotonic() - began < 2


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
        connect(puppet.url, timeout=1)
    assert str(caught.value).isprintable()
    puppet.close()


def test_a_server_that_never_greets() -> None:
    """A port that accepts and says nothing costs the time-out and no more."""
    puppet = Puppet(b"")
    began = time.monotonic()
    with pytest.raises(Unavailable, match="no answer in time"):
        connect(puppet.url, timeout=0.1)
    assert time.monotonic() - began < 2
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
