"""Read this third: a job's process dies, and its slot is free as soon as anybody has seen it."""

from __future__ import annotations

from typing import Any

from coord.board import Board
from tests.boards import Clock, policy, record


def enqueue(board: Board, job: str) -> Any:
    rules = policy(build={"slots": 1})
    return board.job_enqueue(job, "build", "default", owner="o", policy="p", policy_json=rules, record=record(job))


def test_the_process_table_comes_before_the_lease(board: Board, clock: Clock) -> None:
    """A silent job of one's own machine is named to whoever calls; it goes only when its process is seen to be gone."""
    show: Any = board.link.call
    board._common["single"] = ""  # nobody listens in this test: a grant then waits for 5 s to be confirmed
    enqueue(board, "j1")
    enqueue(board, "j2")

    # j1 falls silent; j2 asks every second. After 3 s the board names j1, with its process, as a suspect.
    for _ in range(3):
        clock.step(1000)
        answer = board.job_beat("j2", "j2", "waiting")
    (suspect,) = answer.suspects
    assert (suspect["id"], suspect["process"]["pid"]) == ("j1", 1000)

    # Its lease of 10 s passes, and yet it keeps its slot: its process may only be stopped, or starved.
    for _ in range(20):
        clock.step(1000)
        assert board.job_beat("j2", "j2", "waiting").verdict == "waiting"
    assert show("HEXISTS", board.keys["JOBS"], "j1") == 1

    # j2's runner looks at the process table and sees that it is gone. It says so with its next call, and is granted.
    board.vouched = [{"kind": "job", "id": "j1", "is": "gone", **suspect["process"]}]
    assert board.job_beat("j2", "j2", "waiting").verdict == "granted"
    assert show("HEXISTS", board.keys["JOBS"], "j1") == 0

    # Was it a mistake? The job comes back with what it has, and counts, whatever the cap says.
    returned = board.job_register(
        "j1", "build", "default", "running", ticket="", fence="", policy="p",
        policy_json=policy(build={"slots": 1}), record=record("j1", owner="o"),
    )  # fmt: skip
    assert returned.verdict == "running"
    assert show("ZLEXCOUNT", board.keys["RUNNING"], "[q|build|", "(q|build}") == 2
