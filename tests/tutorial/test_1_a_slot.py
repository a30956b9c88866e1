"""Read this first: one job takes the only slot of a queue and gives it back."""

from __future__ import annotations

from typing import Any

from coord.answers import Granted
from coord.board import Board
from tests.boards import Clock, policy, record

ONE_SLOT = policy(build={"slots": 1})
"""What `.omp-coord.json` says of queues, as a board gets it; a policy is known by a hash, here "p"."""


def test_a_job_takes_a_slot_and_gives_it_back(board: Board, clock: Clock) -> None:
    """The slot is granted at once, held by a lease that beats renew, and released by its own token only."""
    show: Any = board.link.call  # what you would type into redis-cli

    # A runner asks. The id is its own, so a lost answer can be asked for again.
    answer = board.job_enqueue(
        "j1", "build", "default", owner="ann", policy="p", policy_json=ONE_SLOT, record=record("j1", command="make")
    )
    assert isinstance(answer, Granted)
    assert answer.verdict == "granted"

    # HKEYS coord:{…}:jobs                       the job stands on the board,
    # ZRANGE coord:{…}:running 0 -1              holds a slot of its queue and lane, by its ticket,
    # ZRANGE coord:{…}:leases 0 -1 WITHSCORES    and lives for 10 s without another beat.
    lane = f"build|default|{answer.ticket}|j1"
    assert show("HKEYS", board.keys["JOBS"]) == ["j1"]
    assert show("ZRANGE", board.keys["RUNNING"], 0, 0) == [f"o|build|ann|default|{answer.ticket}|j1"]
    assert show("ZRANGE", board.keys["RUNNING"], 1, 1) == [f"q|{lane}"]
    assert show("ZRANGE", board.keys["LEASES"], 0, -1, "WITHSCORES") == [["j|j1", clock.ms + 10_000]]

    # Two seconds later it beats.
    clock.step(2000)
    assert board.job_beat("j1", "j1", "running").verdict == "running"
    assert show("ZSCORE", board.keys["LEASES"], "j|j1") == clock.ms + 10_000

    # Nobody else can end it: the token is the instance of its process and the fence of its grant.
    assert board.job_finish("j1", "somebody else", answer.fence, "ok").verdict == "notYours"
    assert board.job_finish("j1", "j1", "0000000000000001", "ok").verdict == "notYours"

    # It ends. Nothing of it stays but a tombstone for an hour; asked again, it is released again.
    assert board.job_finish("j1", "j1", answer.fence, "ok", code=0).verdict == "released"
    assert board.job_finish("j1", "j1", answer.fence, "ok", code=0).verdict == "released"
    assert show("EXISTS", board.keys["JOBS"], board.keys["RUNNING"], board.keys["LEASES"]) == 0
    assert '"how":"finished"' in show("HGET", board.keys["ENDED"], "j1")
