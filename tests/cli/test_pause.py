"""`omp-coord pause`, `resume` and `line leave`."""

from __future__ import annotations

import os

import pytest

from coord.server import decide
from tests.cli.den import NOBODY
from tests.cli.desk import Desk
from tests.cli.place import one_line

COMMANDS = [["pause"], ["resume"], ["line", "leave", "--session", "A"]]


# -- pause and resume


def test_pause_and_resume(desk: Desk) -> None:
    """Paused with who, why and since when; then a spawn is refused. Resumed it is approved."""
    desk.session("aa")
    out, err = desk.cli("pause", "the disk is full")
    assert (out, err) == (
        f"Paused: no new agents and jobs in the scope {desk.scope}. `omp-coord resume` lifts it.\n",
        "",
    )
    paused = desk.json("status", "--json")["paused"]
    assert (paused["reason"], paused["label"]) == ("the disk is full", None)
    assert paused["by"].startswith(os.environ.get("USER") or str(os.getuid()))
    assert desk.spawn("aa", "w0").fields["cause"] == "paused"
    assert desk.cli("resume") == ("Resumed: agents and jobs start again.\n", "")
    assert desk.json("status", "--json")["paused"] is None
    assert desk.spawn("aa", "w0").verdict == "approved"


def test_pausing_again(desk: Desk) -> None:
    """The new reason counts, the beginning stays; without a reason there is none."""
    first = desk.json("pause", "one", "--json")
    assert list(first) == ["version", "scope", "now", "paused"]
    second = desk.json("pause", "--json")["paused"]
    assert (second["reason"], second["since"]) == (None, first["paused"]["since"])


def test_resuming_what_is_not_paused(desk: Desk) -> None:
    """Is fine, and said."""
    assert desk.cli("resume") == ("It was not paused.\n", "")


def test_a_session_pauses(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a session's shell it is that session, by its letter; one that is not on the board is a terminal."""
    desk.session("aa")
    monkeypatch.setenv("OMP_COORD_SESSION", "aa")
    paused = desk.json("pause", "--json")["paused"]
    assert (paused["by"], paused["label"]) == ("aa", "A")
    assert "Paused by session A since" in desk.cli("status")[0]
    monkeypatch.setenv("OMP_COORD_SESSION", "gone")
    paused = desk.json("pause", "--json")["paused"]
    assert paused["label"] is None
    assert "@" in paused["by"]


def test_a_reason_of_any_kind(desk: Desk) -> None:
    """It is cut to 200 characters and has no control character."""
    assert desk.json("pause", "a\x1b[31mb\n" + "c" * 300, "--json")["paused"]["reason"] == ("ab " + "c" * 300)[:200]


def test_a_pause_holds_the_queues(desk: Desk) -> None:
    """Jobs wait; resumed the first is served."""
    desk.cli("pause")
    assert desk.job("j1", "test").verdict == "waiting"
    desk.cli("resume")
    (job,) = [*desk.json("queue", "list", "test", "--json")["queues"]["test"]["waiting"]] or [{"state": "served"}]
    assert job["state"] in ("away", "served")


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_without_a_server(desk: Desk, monkeypatch: pytest.MonkeyPatch, words: list[str]) -> None:
    """There is nothing to change: exit 69, one line, and no server is started."""
    assert one_line(desk.cli(*words, "--redis", NOBODY, code=69)[1])
    monkeypatch.delenv("OMP_COORD_REDIS_URL")
    monkeypatch.setattr(decide, "LOCAL_URL", NOBODY)
    assert "no server runs" in one_line(desk.cli(*words, code=69)[1])
    assert "no server runs" in desk.cli("status")[0]


# -- line leave


@pytest.fixture
def line(desk: Desk) -> Desk:
    """A has both slots of the pool `work`; B and then C stand in its line."""
    for id in ("aa11", "bb22", "bb33"):
        desk.session(id)
    desk.spawn("aa11", "w0")
    desk.spawn("aa11", "w1")
    desk.spawn("bb22", "w2")
    desk.spawn("bb33", "w3")
    return desk


def in_line(desk: Desk) -> list[str]:
    return [wait["label"] for wait in desk.json("status", "--json")["pools"]["work"]["line"]]


@pytest.mark.parametrize("name", ["B", "b", "bb22", "bb2"])
def test_leave(line: Desk, name: str) -> None:
    """A session is named by its letter, its id, or enough of that."""
    assert in_line(line) == ["B", "C"]
    assert line.cli("line", "leave", "--session", name) == ("Session B has left the line of work.\n", "")
    assert in_line(line) == ["C"]


def test_leave_as_the_session_itself(line: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a name it is the session of this shell."""
    monkeypatch.setenv("OMP_COORD_SESSION", "bb33")
    line.cli("line", "leave", "work")
    assert in_line(line) == ["B"]


def test_leaving_a_hold(line: Desk) -> None:
    """The slot that was held for it is held for the next one at once."""
    line.board.session_leave("aa11", "aa11", "exit")
    line.board.session_join(
        "dd", "host-dd", policy=line.settings.policy, policy_json=line.settings.policy_json, agents="[]",
        record='{"cwd":"/","process":{"pid":1,"start":"1","instance":"dd"}}',
    )  # fmt: skip
    line.cli("line", "leave", "--session", "B")
    (wait,) = line.json("status", "--json")["pools"]["work"]["line"]
    assert wait["label"] == "C"
    assert wait["holdUntil"] is not None


def test_leaving_no_line(line: Desk) -> None:
    """Exit 1, and nothing is changed."""
    assert one_line(line.cli("line", "leave", "--session", "A", code=1)[1]) == "session A is in no line"
    err = one_line(line.cli("line", "leave", "work", "--session", "A", code=1)[1])
    assert err == "session A is not in the line of work"
    assert in_line(line) == ["B", "C"]


def test_leaving_as_one_that_has_ended(line: Desk) -> None:
    """Exit 1, and when it ended."""
    line.board.session_leave("bb22", "bb22", "exit")
    err = one_line(line.cli("line", "leave", "--session", "bb22", code=1)[1])
    assert err.startswith("the session bb22 has ended already, at ")
    assert in_line(line) == ["C"]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (
            ["--session", "Z"],
            "there is no session Z. There are: A (/home/ann/app), B (/home/ann/app), C (/home/ann/app).",
        ),
        (["--session", "\udcff\n"], "there is no session ? . There are: A "),
        (["--session", "bb"], "2 sessions begin with bb. There are: A "),
        ([], "say whose place with --session. There are: A "),
        (["wrok", "--session", "B"], 'there is no pool "wrok". Did you mean "work"? Known: work.'),
    ],
)
def test_who_is_meant(line: Desk, words: list[str], text: str) -> None:
    """Unknown, ambiguous or not said: exit 2 with who is there, and nothing is changed."""
    out, err = line.cli("line", "leave", *words, code=2)
    assert out == ""
    assert text in one_line(err)
    assert in_line(line) == ["B", "C"]


def test_nobody_is_there(desk: Desk) -> None:
    """With no session on the board that is said."""
    assert one_line(desk.cli("line", "leave", "--session", "B", code=2)[1]).endswith("No session is there.")
