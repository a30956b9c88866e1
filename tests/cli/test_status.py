"""The picture that `omp-coord status` prints, as JSON and as tables; the command is in `test_status_command`."""

from __future__ import annotations

import json
import re
import time
from typing import Any

import pytest

from coord.board import Board
from coord.board_text import board_text, short_ids, span
from coord.config.settings import Queue, Settings
from coord.status import Reading, Server, Status, picture
from tests.boards import Clock, policy, record
from tests.cli import golden

LANES = {"quick": (10, 0, None), "slow": (-5, 0, 1)}
QUEUES = {
    "lint": {"slots": 2},
    "test": {"slots": 1, "lanes": {"quick": {"priority": 10}, "slow": {"priority": -5, "max": 1}}},
}
OURS = json.dumps({**json.loads(policy(**QUEUES)), "source": "/home/ann/app.json"})
THEIRS = json.dumps({**json.loads(policy(lint={"slots": 1}, deploy={"slots": 1})), "source": "/home/bob/app.json"})


def settings() -> Settings:
    """Those of somebody with a file that names two queues and a pool."""
    found = Settings("/home/ann/app.json", "demo")
    found.policy, found.policy_json = "ours", json.dumps({**json.loads(OURS), "pools": {"work": {"cap": 2}}})
    found.queues = {
        "lint": Queue("lint", 2),
        "test": Queue("test", 1, "fifo", dict(LANES), 600_000),
        "docs": Queue("docs"),
    }
    return found


def ask(board: Board, job: str, queue: str, lane: str = "default", *, own: bool = True, **fields: Any) -> None:
    text = OURS if own else THEIRS
    board.job_enqueue(
        job, queue, lane, owner=fields.pop("owner", "ann@box:pts/3"), policy="ours" if own else "theirs", policy_json=text,
        limit_ms=fields.pop("limit_ms", None), record=record(job, cwd="/home/ann/app", **fields),
    )  # fmt: skip


def busy_board(board: Board, clock: Clock) -> Reading:
    """Every state a job can be in, two configurations, a queue over its cap and an orphan."""
    ask(board, "a1", "lint", command="ruff check .", agent="Fixer-2")
    clock.step(61_000)
    ask(board, "b2", "lint", owner="bob@box:pts/4%7C", label="types \U0001f319 \x1b[31mred\x1b[0m\nand more")
    ask(board, "c3", "test", command="pytest", limit_ms=300_000)
    board.job_beat("c3", "c3", "stopped")
    ask(board, "d4", "test", command="pytest tests/slow " + "and-a-very-long-name/" * 5)
    clock.step(1_000)
    ask(board, "e5", "test", "quick", command="pytest -x")
    ask(board, "f6", "deploy", own=False, command="make deploy")
    ask(board, "g7", "deploy", own=False, command="make undeploy")
    f6 = json.loads(board.board_read().fields["jobs"])
    fence = next(job["fence"] for job in f6 if job["id"] == "f6")
    board.job_finish("f6", "f6", fence, "ok")  # nobody listens for g7, so it loses its turn
    entry = {
        "kind": "job",
        "id": "b2",
        "pid": 1000,
        "start": "1",
        "instance": "b2",
        "is": "orphaned",
        "pids": [4242, 4243],
    }
    board.vouched = [entry]
    board.board_sweep()
    answer = board.board_read()
    return Reading(answer.fields, answer.now)


def shown(reading: Reading, who: Settings | None = None) -> Status:
    server = Server(url="redis://box:6379", embedded=False, version="7.0.15", reachable=True)
    return picture(reading, who or settings(), server, [])


def render(status: Status, *, width: int, colour: bool) -> str:
    return board_text(status.model_dump(), width=width, colour=colour)


@pytest.fixture
def utc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()


def test_json_of_a_busy_board(board: Board, clock: Clock) -> None:
    """Version 1, byte for byte: names, order, nulls, the queues of the file and those of the board."""
    picture_of_it = shown(busy_board(board, clock))
    golden.check("status-busy.json", json.dumps(picture_of_it.model_dump(), ensure_ascii=False, indent=2) + "\n")


def test_json_without_a_board(board: Board) -> None:
    """No board: the queues and pools of the file stand there, idle."""
    empty = picture(Reading({}, 1_800_000_000_000), settings(), Server(), [])
    golden.check("status-empty.json", json.dumps(empty.model_dump(), ensure_ascii=False, indent=2) + "\n")


def bare(schema: Any) -> Any:
    """A schema without its words."""
    if isinstance(schema, dict):
        return {name: bare(part) for name, part in schema.items() if name not in ("title", "description", "default")}
    return [bare(part) for part in schema] if isinstance(schema, list) else schema


def test_schema() -> None:
    """The shape of version 1: every field of every part with its type."""
    golden.check(
        "status-schema.json", json.dumps(bare(Status.model_json_schema(mode="serialization")), indent=1) + "\n"
    )


def test_tables_of_a_busy_board(board: Board, clock: Clock, utc: None) -> None:
    """80 columns, 24 h times, long commands cut, no control character of others, legible without colour."""
    text = render(shown(busy_board(board, clock)), width=80, colour=False)
    golden.check("status-busy.txt", text)
    assert max(map(len, text.splitlines())) <= 80
    assert text.replace("\n", "").isprintable()


def test_tables_in_colour(board: Board, clock: Clock, utc: None) -> None:
    """Colour adds escape sequences and nothing else."""
    reading = busy_board(board, clock)
    coloured = render(shown(reading), width=80, colour=True)
    assert "\x1b[31m" in coloured
    plain = re.sub(r"\x1b\[[\d;]*m", "", coloured)
    assert [line.rstrip() for line in plain.splitlines()] == render(shown(reading), width=80, colour=False).splitlines()


def test_empty_tables(utc: None) -> None:
    """An empty board says in one line what to do next, with the file's own queue when there is one."""
    nothing = Reading({}, 1_800_000_000_000)
    golden.check("status-empty.txt", render(shown(nothing), width=80, colour=False))
    last = render(shown(nothing, Settings(None, "demo")), width=80, colour=False).splitlines()[-1]
    assert last == "Nothing runs. Next: omp-coord init, or omp-coord run QUEUE -- COMMAND"


def test_limits_of_nobody(board: Board, clock: Clock) -> None:
    """The policy that the last job left behind binds nobody: an edited file counts at once."""
    ask(board, "a1", "lint")
    board.job_cancel("a1", kill=True, instance="a1")
    fence = json.loads(board.board_read().fields["jobs"])[0]["fence"]
    board.job_finish("a1", "a1", fence, "ok")
    answer = board.board_read()
    assert json.loads(answer.fields["limits"])["lint"]["slots"] == 2
    who = settings()
    who.queues["lint"].slots = 5
    lint = shown(Reading(answer.fields, answer.now), who).queues["lint"]
    assert (lint.slots, lint.effective_slots, lint.limited_by) == (5, 5, None)


def test_load_caps(board: Board, clock: Clock) -> None:
    """Fewer slots because of the load are said to be so."""
    text = json.dumps({"queues": {"lint": {"slots": 2, "loadCaps": [[-1, 1]]}}, "source": "x", "leaseMs": 10000})
    board.job_enqueue("a", "lint", "default", owner="o", policy="p", policy_json=text, record=record("a"))
    answer = board.board_read()
    lint = shown(Reading(answer.fields, answer.now)).queues["lint"]
    assert (lint.slots, lint.effective_slots, lint.limited_by) == (2, 1, "load")


def test_short_ids() -> None:
    """As much of an id as tells it from the others, at least 8 characters."""
    assert short_ids(["0123456789abcdef", "0123456789abffff", "f" * 16]) == {
        "0123456789abcdef": "0123456789abc",
        "0123456789abffff": "0123456789abf",
        "f" * 16: "f" * 8,
    }
    assert short_ids(["ab", "abc"]) == {"ab": "ab", "abc": "abc"}


def test_span() -> None:
    """Two units at most, the smaller one with two digits."""
    assert [span(s) for s in (-1, 7, 125, 12_000, 188_000)] == ["0s", "7s", "2m05s", "3h20m", "2d04h"]
