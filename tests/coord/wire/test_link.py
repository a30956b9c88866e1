"""coord.wire.link: answers in order, messages apart from them, and every fault of the connection is `Unavailable`."""

from __future__ import annotations

import contextlib
import os
import threading

import pytest

from coord.errors import Unavailable
from coord.wire import Link, ServerError, connect
from tests.coord.wire.puppet import answers
from tests.servers import Server
from tests.waiting import until


def messages(link: Link, count: int) -> list[list[object]]:
    """The first `count` messages that others published, once they are here."""

    def heard() -> list[list[object]]:
        assert link.poll() == []
        return [push for push in link.pushes if push[0] == "message"]

    return until(lambda: heard() if len(heard()) >= count else [], f"{count} messages")


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


def test_poll_never_waits(server: Server, link: Link) -> None:
    """While the server has no answer `poll` says nothing, at once; the answer is there when it has come."""
    key, found = f"link-{os.urandom(4).hex()}", []
    link.post("BLPOP", key, "0")  # for ever, if nobody pushes
    thread = threading.Thread(target=lambda: found.append(link.poll()), daemon=True)
    thread.start()
    thread.join(30)
    assert found == [[]]
    with contextlib.closing(connect(server.url)) as other:
        other.call("RPUSH", key, "pushed")
    assert answers(link, 1) == [[key, "pushed"]]


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
