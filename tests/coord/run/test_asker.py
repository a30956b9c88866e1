"""coord.run.asker and record: who asks, and what the board is told, whatever stands in the environment."""

from __future__ import annotations

import json
import os

import pytest

from coord.machine import start_of
from coord.run.asker import Asker, terminal
from coord.run.record import Record

BYTES = os.fsdecode(b"\xff\x80a")
"""What Python makes of bytes that are no UTF-8."""


def test_what_the_environment_says() -> None:
    """Session, agent and the job around come from the environment; the job only within its own scope."""
    env = {"OMP_COORD_SESSION": "s1", "OMP_COORD_AGENT": "a1", "OMP_COORD_SCOPE": "app", "OMP_COORD_JOB": "j1"}
    asker = Asker(env, "app")
    assert (asker.session, asker.agent, asker.parent) == ("s1", "a1", "j1")
    assert Asker(env, "other").parent == ""
    assert Asker(env, "app", agent="a2").agent == "a2"


def test_the_owner() -> None:
    """The owner is the one that is named, else this user at this terminal or of this calling process."""
    assert Asker({}, "app", owner="me").owner == "me"
    assert Asker({"USER": "ann"}, "app").owner == Asker({"USER": "ann"}, "app").owner
    assert terminal({"USER": "ann"}).startswith(f"ann@{os.uname().nodename}:")
    assert terminal({}).startswith(f"{os.getuid()}@")


def test_an_owner_that_is_a_session() -> None:
    """It names the session, whatever the environment of an old shell says; other owners do not."""
    env = {"OMP_COORD_SESSION": "11ff00ff00ff00ff"}
    asker = Asker(env, "app", owner="00ff00ff00ff00ff")
    assert (asker.session, asker.owner) == ("00ff00ff00ff00ff", "00ff00ff00ff00ff")
    assert Asker({}, "app", owner="00ff00ff00ff00ff").session == "00ff00ff00ff00ff"
    for other in ("me", "00ff", "00ff00ff00ff00fg", "00FF00FF00FF00FF", "00ff00ff00ff00ff0"):
        assert (Asker(env, "app", owner=other).session, Asker({}, "app", owner=other).session) == (
            "11ff00ff00ff00ff",
            "",
        )


@pytest.mark.parametrize("text", ["a|b%c", "a\nb\x1b[31m", BYTES, "\ud800", "ä😀", "x" * 10_000, "\0"])
def test_hostile_words(text: str) -> None:
    """Whatever these variables hold, each is one field that can be sent: no separator, no control character, UTF-8."""
    env = {"OMP_COORD_SESSION": text, "USER": text, "OMP_COORD_SCOPE": "app", "OMP_COORD_JOB": text}
    asker = Asker(env, "app")
    for word in (asker.owner, asker.session, asker.parent, Asker({}, "app", owner=text).owner):
        word.encode()
    assert not set(asker.owner) & set("|\n\x1b\0")
    assert asker.parent in ("", text)
    assert asker.parent.isascii()


@pytest.mark.parametrize("text", ['a "quoted" \\ word', "ä😀", "a\nb", BYTES, "\ud800"])
def test_the_record_is_json(text: str) -> None:
    """Whatever folder, label or agent is called, the record is JSON that any reader takes; what is empty is left out."""
    found = json.loads(Record(label=text, command="secret", cwd=text, agent="").text(owner=text, limitMs=5, none=None))
    expected = text.encode("utf-8", "replace").decode()
    assert (found["label"], found["cwd"], found["owner"], found["limitMs"]) == (expected, expected, expected, 5)
    assert not {"agent", "command", "none", "wake"} & set(found)


def test_the_process() -> None:
    """A record names this very process, and an instance of its own; a fork is another process."""
    records = [json.loads(Record(label="", command="c", cwd="/").text()) for _ in range(2)]
    assert {(found["process"]["pid"], found["process"]["start"]) for found in records} == {
        (os.getpid(), start_of(os.getpid()))
    }
    assert records[0]["process"]["instance"] != records[1]["process"]["instance"]
    read, write = os.pipe()
    pid = os.fork()
    if not pid:
        os.write(write, Record(label="", command="c", cwd="/").text().encode())
        os._exit(0)
    os.waitpid(pid, 0)
    assert json.loads(os.read(read, 4096))["process"]["pid"] == pid
    os.close(read)
    os.close(write)
