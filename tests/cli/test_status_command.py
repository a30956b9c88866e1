"""`omp-coord status`, the command: which board it looks at, what it warns of, and that it changes nothing else."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import time
from typing import Any

import pytest

from coord.config.trust import trust
from coord.home import Home
from coord.server import decide, embedded
from coord.server import record as records
from tests.cli.den import NOBODY
from tests.cli.desk import Desk
from tests.servers import free_port


def test_without_a_server(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading starts nothing: an empty board, no URL, exit 0, and afterwards no server runs."""
    monkeypatch.delenv("OMP_COORD_REDIS_URL")
    monkeypatch.setattr(decide, "LOCAL_URL", NOBODY)
    seen = desk.json("status", "--json")
    assert seen["server"] == {"url": None, "embedded": False, "version": None, "reachable": False}
    assert list(seen["queues"]) == ["lint", "test"]
    assert seen["pools"]["work"]["cap"] == 2
    assert "no server runs" in desk.cli("status")[0]
    assert embedded.url(Home.find(os.environ)) is None


def test_makes_no_board(desk: Desk) -> None:
    """Reading makes no board where there is none."""
    desk.board.link.call("DEL", *desk.board.keys.all())
    assert desk.json("status", "--json")["server"]["reachable"] is True
    assert desk.board.link.call("EXISTS", desk.board.keys.meta) == 0


def test_wrong_server(desk: Desk) -> None:
    """A server that was named and does not answer is exit 69 with one line; a URL that is none is exit 2."""
    out, err = desk.cli("status", "--json", "--redis", NOBODY, code=69)
    assert (out, err.count("\n"), err.startswith("omp-coord: ")) == ("", 1, True)
    assert desk.cli("status", "--redis", "http://x", code=2)[1].count("\n") == 1


def test_a_gone_server_in_the_record(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """An embedded server that was killed a moment ago is none: the record's word is not enough."""
    monkeypatch.delenv("OMP_COORD_REDIS_URL")
    monkeypatch.setattr(decide, "LOCAL_URL", NOBODY)
    home = Home.find(os.environ)
    records.write(home, desk.scope, embedded.url_of(home.socket()), True)
    with socket.socket(socket.AF_UNIX) as dead:
        home.server()
        dead.bind(home.socket())
    assert desk.json("status", "--json")["server"]["url"] is None


def test_password_is_not_shown(desk: Desk) -> None:
    """The URL stands there without user and password."""
    desk.board.link.call("ACL", "SETUSER", "reader", "on", ">secret", "allkeys", "allchannels", "+@all")
    url = desk.server.tcp.replace("redis://", "redis://reader:secret@")
    seen = desk.json("status", "--json", "--redis", url)
    assert seen["server"]["url"] == desk.server.tcp
    assert seen["server"]["version"].startswith("9.")


def test_the_dead_do_not_run(desk: Desk) -> None:
    """A job whose process is gone is not shown, and is off the board afterwards; who waited for it is served."""
    desk.job("dead", "test", pid=desk.dead_pid())
    desk.job("next", "test")
    test = desk.json("status", "--json")["queues"]["test"]
    assert [job["id"] for job in test["running"] + test["waiting"]] == ["next"]
    assert [job["id"] for job in json.loads(desk.board.board_read().fields["jobs"])] == ["next"]


@pytest.mark.parametrize("record", ["{broken", "[]", "5", "null"])
def test_a_record_that_is_not_ours(desk: Desk, record: str) -> None:
    """What somebody wrote into the board by hand is one line, exit 1."""
    desk.board.link.call("HSET", desk.board.keys["JOBS"], "mine", record)
    for words in (("status",), ("queue", "list"), ("agents",), ("queue", "cancel", "mine")):
        assert desk.cli(*words, code=1)[1].startswith("omp-coord: ")


def test_a_board_that_can_only_be_read(desk: Desk) -> None:
    """On a server that takes no change (a replica, a full disk) the board is shown as it stands, the dead with it."""
    desk.job("dead", "test", pid=desk.dead_pid())
    desk.board.link.call("ACL", "SETUSER", "looker", "on", ">pw", "allkeys", "allchannels", "+@all", "-@write")
    seen = desk.json("status", "--json", "--redis", desk.server.tcp.replace("redis://", "redis://looker:pw@"))
    assert [job["id"] for job in seen["queues"]["test"]["running"]] == ["dead"]
    (warning,) = seen["warnings"]
    assert (warning["code"], "the server refuses" in warning["text"]) == ("server", True)


def test_an_orphan_keeps_its_slot(desk: Desk) -> None:
    """The runner is gone, its command is not: the job is `orphaned`, with the pids and what ends it in a warning."""
    desk.job("b0b0", pid=desk.dead_pid())
    left = desk.process(["sleep", "60"], env={**os.environ, "OMP_COORD_JOB": "b0b0"})
    seen = desk.json("status", "--json")
    assert [job["state"] for job in seen["queues"]["lint"]["running"]] == ["orphaned"]
    (warning,) = seen["warnings"]
    assert warning["code"] == "orphaned"
    assert f"process {left.pid};" in warning["text"]
    assert "omp-coord queue cancel b0b0 --kill" in warning["text"]


def test_a_known_orphan_is_not_told_again(desk: Desk) -> None:
    """Looking at a board does not change it again and again: those who watch would wake each other for ever."""
    desk.job("b0b0", pid=desk.dead_pid())
    desk.process(["sleep", "60"], env={**os.environ, "OMP_COORD_JOB": "b0b0"})
    desk.json("status", "--json")
    before = desk.board.link.call("HGET", desk.board.keys.meta, "lastOp")
    desk.json("status", "--json")
    assert desk.board.link.call("HGET", desk.board.keys.meta, "lastOp") == before


def test_another_scope(desk: Desk, tmp_path: Any) -> None:
    """--scope looks at another board, about which this folder's file says nothing."""
    desk.job("a1")
    other = desk.json("status", "--json", "--scope", desk.scope + "-other")
    assert (other["scope"], other["queues"], other["pools"]) == (desk.scope + "-other", {}, {})
    assert list(desk.json("status", "--json", "--scope", desk.scope)["queues"]) == ["lint", "test"]
    os.chdir(tmp_path)
    seen = desk.json("status", "--json", "--scope", desk.scope)
    assert [job["id"] for job in seen["queues"]["lint"]["running"]] == ["a1"]
    assert desk.cli("status", "--scope", "a b", code=2)[1].count("\n") == 1


def test_settling(desk: Desk) -> None:
    """A new board that settles says so, and for how long."""
    desk.board.link.call("HSET", desk.board.keys.meta, "settleUntil", int(time.time() * 1000) + 60_000)
    seen = desk.json("status", "--json")
    assert seen["settling"] is True
    assert [warning["code"] for warning in seen["warnings"]] == ["settling"]


def test_untrusted_url(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server elsewhere that the file names without being trusted is not asked, and that is said."""
    monkeypatch.delenv("OMP_COORD_REDIS_URL")
    monkeypatch.setattr(decide, "LOCAL_URL", NOBODY)
    desk.configure({"redis": {"url": "redis://:pw@192.0.2.1:6379"}})
    (warning,) = desk.json("status", "--json")["warnings"]
    assert warning["code"] == "untrusted"
    assert "config trust" in warning["text"]
    assert "pw" not in warning["text"]


def test_trusted_url_is_asked(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once trusted it is the server, and then it has to answer."""
    monkeypatch.delenv("OMP_COORD_REDIS_URL")
    path = desk.configure({"redis": {"url": f"redis://localhost.invalid:{free_port()}"}})
    with open(path, "rb") as file:
        trust(Home.find(os.environ), path, hashlib.sha256(file.read()).hexdigest())
    desk.cli("status", code=69)


def test_two_repositories(desk: Desk) -> None:
    """Jobs of one scope from different repositories are warned of."""
    for name in ("one", "two"):
        os.makedirs(f"{desk.folder}/{name}/.git")
        with open(f"{desk.folder}/{name}/.git/HEAD", "w") as file:
            file.write("ref: refs/heads/main\n")
    desk.job("a1", cwd=f"{desk.folder}/one")
    desk.job("b2", cwd=f"{desk.folder}/two")
    (warning,) = desk.json("status", "--json")["warnings"]
    assert warning["code"] == "twoRepositories"
    assert f"{desk.folder}/one/.git, {desk.folder}/two/.git" in warning["text"]


@pytest.mark.parametrize(
    ("words", "env", "coloured"),
    [
        ((), {}, False),
        ((), {"FORCE_COLOR": "1"}, True),
        ((), {"FORCE_COLOR": "0"}, False),
        ((), {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (("--color", "always"), {"NO_COLOR": "1"}, True),
        (("--color", "never"), {"FORCE_COLOR": "1"}, False),
        (("--color", "auto"), {"CI": "true"}, False),
    ],
)
def test_colour(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], env: dict[str, str], coloured: bool
) -> None:
    """--color before NO_COLOR before FORCE_COLOR before whether stdout is a terminal."""
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    assert ("\x1b[" in desk.cli("status", *words)[0]) is coloured
