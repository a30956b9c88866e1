"""`omp-coord agents`, and sessions, pools and agents in `omp-coord status`."""

from __future__ import annotations

import os
import time
from typing import Any

import pytest

from coord.status import Status
from tests.cli import golden
from tests.cli.desk import Desk
from tests.cli.place import one_line


def busy(desk: Desk) -> None:
    """A has the pool's two slots and one besides, B stands in line, C has nothing."""
    for id, cwd in (("aa", "/home/ann/app"), ("bb", "/home/ann/app-two"), ("cc", "/home/ann/app-three")):
        desk.session(id, cwd)
    assert desk.spawn("aa", "w0").verdict == "approved"
    desk.runs("aa", "w0")
    assert desk.spawn("aa", "w1", "scout").verdict == "approved"
    desk.runs("aa", "x0", "reviewer", parent="W0", kind="sub")
    assert desk.spawn("bb", "w2").fields["cause"] == "full"


def codes(picture: dict[str, Any]) -> dict[str, str]:
    return {warning["code"]: warning["text"] for warning in picture["warnings"]}


def test_status_as_json(desk: Desk) -> None:
    """Sessions by letter, the pool with its slots and its line, agents of no pool apart; the types say the same."""
    busy(desk)
    before = int(time.time() * 1000)
    seen = desk.json("status", "--json")
    assert [(one["label"], one["id"], one["cwd"], one["agents"], one["late"]) for one in seen["sessions"]] == [
        ("A", "aa", "/home/ann/app", 3, False),
        ("B", "bb", "/home/ann/app-two", 0, False),
        ("C", "cc", "/home/ann/app-three", 0, False),
    ]
    assert {one["pid"] for one in seen["sessions"]} == {os.getpid()}
    assert {one["policy"] for one in seen["sessions"]} == {desk.settings.policy}
    work = seen["pools"]["work"]
    assert {name: work[name] for name in ("cap", "effectiveCap", "limitedBy", "used", "held", "overBy")} == {
        "cap": 2, "effectiveCap": 2, "limitedBy": None, "used": 2, "held": 0, "overBy": 0,
    }  # fmt: skip
    assert [(slot["id"], slot["label"], slot["agent"], slot["state"]) for slot in work["slots"]] == [
        ("w0", "A", "W0", "running"),
        ("w1", "A", "W1", "starting"),
    ]
    (waits,) = work["line"]
    assert (waits["session"], waits["label"], waits["holdUntil"]) == ("bb", "B", None)
    assert before - 60_000 < waits["since"] <= seen["now"]
    (nested,) = seen["unpooled"]
    assert (nested["agent"], nested["parent"], nested["pool"], nested["unqueued"]) == ("X0", "W0", None, "revived")
    assert Status.model_validate(seen).model_dump() == seen


def test_a_hold(desk: Desk) -> None:
    """A freed slot is held for the first in line until a time; it is counted apart from those in use."""
    busy(desk)
    desk.board.session_leave("aa", "aa", "exit")
    seen = desk.json("status", "--json")
    work = seen["pools"]["work"]
    assert (work["used"], work["held"]) == (0, 1)
    assert 0 < work["line"][0]["holdUntil"] - seen["now"] <= 300_000
    assert "B held 4m" in desk.cli("status")[0]


def test_a_paused_hold(desk: Desk) -> None:
    """While paused a hold does not age: it is counted, and has no end."""
    busy(desk)
    desk.board.session_leave("aa", "aa", "exit")
    desk.board.board_pause("ann", reason="the \x1b[31mdisk")
    seen = desk.json("status", "--json")
    assert seen["pools"]["work"]["held"] == 1
    assert seen["pools"]["work"]["line"][0]["holdUntil"] is None
    assert seen["paused"]["reason"] == "the disk"
    assert "Paused by ann since" in desk.cli("status")[0]


def test_another_file_lowers_the_cap(desk: Desk) -> None:
    """The lowest cap counts, and by how many the pool is over it is said, with both files."""
    busy(desk)
    mine = desk.work
    other = os.path.join(desk.folder, "other")
    os.mkdir(other)
    desk.configure({"agents": {"pools": {"work": {"cap": 1}, "more": {"cap": 3}}}}, other)
    os.chdir(other)
    desk.session("dd", other)
    os.chdir(mine)
    seen = desk.json("status", "--json")
    work = seen["pools"]["work"]
    assert (work["cap"], work["effectiveCap"], work["limitedBy"], work["overBy"]) == (2, 1, "policy", 1)
    assert (seen["pools"]["more"]["cap"], seen["pools"]["more"]["effectiveCap"]) == (3, 3)
    assert codes(seen)["overCap"] == "the pool work is over cap by 1 (2 run, 1 may): nothing is approved until under"
    assert f"{other}/.omp-coord.json, {mine}/.omp-coord.json" in codes(seen)["policiesDiffer"]
    assert "1 of 2 (policy)" in desk.cli("status")[0]


def test_a_pool_that_no_file_names_any_more(desk: Desk) -> None:
    """What runs in it is still shown, without a cap."""
    busy(desk)
    desk.configure({"agents": {"pools": {"new": {"cap": 1}}}})
    settings = desk.settings
    for id in ("aa", "bb", "cc"):
        desk.board.session_beat(id, id, "", policy=settings.policy, policy_json=settings.policy_json)
    seen = desk.json("status", "--json")
    assert list(seen["pools"]) == ["new", "work"]
    work = seen["pools"]["work"]
    assert (work["cap"], work["effectiveCap"], work["used"], work["overBy"]) == (None, None, 2, 0)
    assert "-      2     A 2" in desk.cli("status")[0]


def test_an_idle_board_is_that_of_the_file(desk: Desk) -> None:
    """What the last session left of its policy binds nobody: an edited file counts at once."""
    desk.session("aa")
    desk.board.session_leave("aa", "aa", "exit")
    desk.configure({"agents": {"pools": {"work": {"cap": 7}}}})
    work = desk.json("status", "--json")["pools"]["work"]
    assert (work["cap"], work["effectiveCap"], work["limitedBy"]) == (7, 7, None)


def test_the_dead_are_not_there(desk: Desk) -> None:
    """A session whose process is gone is dropped before the board is shown, and its slots with it; the next is served."""
    desk.session("dead", pid=desk.dead_pid())
    desk.session("bb")
    desk.spawn("dead", "w0")
    desk.spawn("dead", "w1")
    desk.spawn("bb", "w2")
    seen = desk.json("status", "--json")
    assert [one["label"] for one in seen["sessions"]] == ["B"]
    assert (seen["pools"]["work"]["used"], seen["pools"]["work"]["held"]) == (0, 1)


def test_a_session_without_its_bridge(desk: Desk) -> None:
    """Its host lives, the process that speaks for it does not: that is said, told the board once, and ends it after 60 s."""
    desk.session("aa", bridge=desk.dead_pid())
    desk.json("status", "--json")
    seen = desk.json("status", "--json")
    assert codes(seen)["bridgeLost"].startswith("the bridge of session A (/home/ann/app) is gone")
    before = desk.board.link.call("HGET", desk.board.keys.meta, "lastOp")
    desk.json("status", "--json")
    assert desk.board.link.call("HGET", desk.board.keys.meta, "lastOp") == before
    record = desk.board.link.call("HGET", desk.board.keys["SESSIONS"], "aa")
    lost = record[record.index('"bridgeLostAt":') + 15 :].split(",")[0].split("}")[0]
    long_ago = record.replace(lost, str(int(time.time() * 1000) - 61_000))
    desk.board.link.call("HSET", desk.board.keys["SESSIONS"], "aa", long_ago)
    assert desk.json("status", "--json")["sessions"] == []


def test_a_late_session(desk: Desk) -> None:
    """One that has not beaten for some seconds but lives is shown as late, and never dropped by its age."""
    desk.session("aa")
    desk.board.link.call("ZADD", desk.board.keys.leases, int(time.time() * 1000) + 100, "s|aa")
    seen = desk.json("status", "--json")
    assert [one["late"] for one in seen["sessions"]] == [True]
    assert "session A (/home/ann/app) has not been heard of" in codes(seen)["late"]


def test_a_session_of_another_version(desk: Desk) -> None:
    """Sessions that another omp-coord speaks for are named."""
    desk.session("aa", version="0.0.1")
    desk.session("bb")
    assert "0.0.1 in session A:" in codes(desk.json("status", "--json"))["versionsDiffer"]


def test_a_job_of_a_session(desk: Desk) -> None:
    """It is shown with the letter of its session."""
    desk.session("aa")
    settings = desk.settings
    from tests.boards import record

    desk.board.job_enqueue(
        "j1", "lint", "default", owner="x", session="aa", policy=settings.policy, policy_json=settings.policy_json,
        record=record("j1", pid=os.getpid(), start=_start()),
    )  # fmt: skip
    assert desk.json("status", "--json")["queues"]["lint"]["running"][0]["session"] == "aa"
    assert "session A" in desk.cli("status")[0].splitlines()[-1]


def _start() -> str:
    from coord.machine import start_of

    return start_of(os.getpid()) or "0"


# -- the command


def test_agents_as_json(desk: Desk) -> None:
    """Each session with its slots, oldest first, pooled or not."""
    busy(desk)
    seen = desk.json("agents", "--json")
    assert list(seen) == ["version", "scope", "now", "sessions"]
    assert [(one["label"], [slot["agent"] for slot in one["slots"]]) for one in seen["sessions"]] == [
        ("A", ["W0", "W1", "X0"]),
        ("B", []),
        ("C", []),
    ]
    pooled = desk.json("status", "--json")
    assert seen["sessions"][0]["slots"][:2] == pooled["pools"]["work"]["slots"]


def timeless(text: str) -> str:
    """Without the words that hold a time."""
    lines = [
        " ".join(word for word in line.split() if not word[0].isdigit() or len(word) == 1) for line in text.splitlines()
    ]
    return "\n".join(["Board", *lines[1:]]) + "\n"


@pytest.mark.parametrize("command", ["agents", "status"])
def test_tables(desk: Desk, command: str) -> None:
    """80 columns, legible without colour."""
    busy(desk)
    out, err = desk.cli(command)
    assert err == ""
    assert max(map(len, out.splitlines())) <= 80
    golden.check(f"sessions-{command}.txt", timeless(out))


def test_nobody(desk: Desk) -> None:
    """No agent: one line says so."""
    assert desk.cli("agents")[0].splitlines()[-1] == "No agent runs."
    assert desk.json("agents", "--json")["sessions"] == []


def test_texts_of_others_are_harmless(desk: Desk) -> None:
    """Folders, types and ids of other sessions reach a terminal without control characters."""
    desk.session("aa", "/home/\x1b[31mann")
    desk.board.agent_started("aa", "s", "W\x1b]0;x\x07", parent="M\nain", parent_kind="main", type="ta\x9bsk")
    for command in ("status", "agents"):
        assert desk.cli(command)[0].replace("\n", "").isprintable()
    assert desk.json("status", "--json")["sessions"][0]["cwd"] == "/home/ann"


def test_agents_without_a_server(desk: Desk) -> None:
    """A named server that does not answer: exit 69, one line."""
    assert one_line(desk.cli("agents", "--redis", "redis://127.0.0.1:1", code=69)[1])
