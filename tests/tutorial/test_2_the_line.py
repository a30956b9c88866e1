"""Read this second: a job waits, is woken with a grant, confirms it and runs."""

from __future__ import annotations

import json
from typing import Any

from coord.answers import Granted, Waiting
from coord.board import Board
from tests.boards import Clock, policy, record
from tests.limited import Scope


def enqueue(board: Board, job: str, owner: str) -> Any:
    rules = policy(build={"slots": 1})
    return board.job_enqueue(job, "build", "default", owner=owner, policy="p", policy_json=rules, record=record(job))


def test_who_frees_a_slot_hands_it_to_the_next(scope: Scope, board: Board, clock: Clock) -> None:
    """enqueue → wait → grant → start → finish: the slot goes over in the very step that frees it, and one is woken."""
    show: Any = board.link.call
    held = enqueue(board, "j1", "ann")

    # A waiter subscribes to its own channel before it asks, so that no message can fall between.
    ear = scope.link()
    ear.send(("SUBSCRIBE", board.keys.wake("j2")))
    ear.call("PING")
    answer = enqueue(board, "j2", "bob")
    assert isinstance(answer, Waiting)
    assert (answer.place, answer.cause, answer.holders[0]["id"]) == (1, "full", "j1")

    # ZRANGE coord:{…}:waiting 0 -1
    assert show("ZRANGE", board.keys["WAITING"], 0, -1) == [
        f"o|build|bob|default|{answer.ticket}|j2",
        f"q|build|default|{answer.ticket}|j2",
    ]

    # The holder ends its job: the waiter's grant stands on the board in the same step, and it is told.
    board.job_finish("j1", "j1", held.fence, "ok")
    grant = json.loads(show("HGET", board.keys["JOBS"], "j2"))
    assert grant["state"] == "granted"
    assert show("EXISTS", board.keys["WAITING"]) == 0
    ear.call("PING")
    assert ear.pushes[-1] == ["message", board.keys.wake("j2"), f"granted j2 {grant['fence']}"]

    # A message is a hint. The command runs only on `started`, and the grant holds for 5 s.
    assert show("ZRANGE", board.keys["DEADLINES"], 0, -1, "WITHSCORES") == [["grant|j2", clock.ms + 5000]]
    started = board.job_start("j2", "j2", grant["fence"])
    assert isinstance(started, Granted)
    assert started.verdict == "started"
    assert started.fence > held.fence  # fences only grow: a late writer can be told from the current one

    board.job_finish("j2", "j2", started.fence, "ok")

    # XRANGE coord:{…}:events - +     the whole story
    events = [fields[fields.index("type") + 1] for _, fields in show("XRANGE", board.keys["EVENTS"], "-", "+")]
    assert events == [
        "board_made", "policy_registered", "job_queued", "job_started", "job_queued", "job_finished", "job_granted",
        "job_started", "job_finished",
    ]  # fmt: skip
