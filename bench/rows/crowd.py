"""The spawn check on a board with 1,000 sessions and 10,000 waiting jobs, against the same on one with neither."""

from __future__ import annotations

import itertools
import json
import time
from typing import TYPE_CHECKING

from bench.figures import Figure, median, ratio
from bench.hosts import Hosts
from bench.rows.spawn import CONFIG, SESSIONS, checks
from coord.board import Board
from coord.wire import connect

if TYPE_CHECKING:
    from bench.place import Place

OTHERS, JOBS = 1_000, 10_000
# Nobody of the crowd beats, so their lease is longer than the row takes; they are of another machine, so nobody looks
# for their processes.
LEASE_S = 600
QUEUES = {"crowd": {"slots": 1}}
POLICY = json.dumps({"source": "bench", "leaseMs": LEASE_S * 1000, "queues": QUEUES}, sort_keys=True)


def measure(place: Place, rounds: int) -> Figure:
    config = {**CONFIG, "leaseSeconds": LEASE_S, "queues": QUEUES}
    with Hosts(place, "crowded", SESSIONS, config) as crowded, Hosts(place, "roomy", SESSIONS, config) as roomy:
        board = Board(connect(place.url), "crowded", machine="elsewhere")
        crowd(board)
        numbers = itertools.count()
        seen: dict[str, list[float]] = {"crowded": [], "roomy": []}
        for _ in range(rounds):
            seen["crowded"].append(median(checks(crowded, numbers)))
            seen["roomy"].append(median(checks(roomy, numbers)))
        board.link.call("UNLINK", *board.keys.all())
        board.link.close()
    share = ratio(seen["crowded"], seen["roomy"])
    return Figure(
        f"the same with {OTHERS:,} more sessions and {JOBS:,} waiting jobs on the board ÷ without",
        "≤ 1.5",
        f"{share:.2f}, p50 {median(seen['crowded']) * 1000:.2f} ms",
        share <= 1.5,
    )


def crowd(board: Board) -> None:
    """Puts the sessions and the jobs on a board."""
    for number in range(OTHERS):
        name = f"{number:016x}"
        record = {"cwd": "/src/project", "process": _process(name), "bridge": _process(name), "version": "0"}
        board.session_join(
            name, f"host-{name}", policy="bench", policy_json=POLICY, agents="[]", record=json.dumps(record)
        )
    for number in range(JOBS + 1):
        job = f"{number:016x}"
        board.job_enqueue(
            job, "crowd", "default", owner=f"owner-{number}", policy="bench", policy_json=POLICY,
            record=json.dumps({"process": _process(job), "command": "make all", "cwd": "/src/project"}),
        )  # fmt: skip
    until = int(time.time() * 1000) + LEASE_S * 1000
    members: list[str] = board.link.call("ZRANGE", board.keys.leases, 0, -1)  # type: ignore[assignment]
    for start in range(0, len(members), 1000):
        flat = [word for member in members[start : start + 1000] for word in (until, member)]
        board.link.call("ZADD", board.keys.leases, *flat)


def _process(name: str) -> dict[str, object]:
    return {"pid": 1, "start": "1", "instance": name}
