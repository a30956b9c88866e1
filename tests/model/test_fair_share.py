"""Fair share on a real board: nobody's backlog holds up another, and a long line costs a call nothing."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator
from typing import Any

import pytest

from coord.answers import Granted
from coord.board import Board
from coord.wire import connect
from coord.wire.link import Link
from tests.boards import policy, real_board, record, timed_board
from tests.model.runner import token
from tests.servers import KINDS, Server

CALLS = 200
NAMES = ("default", "a", "b")
LANES = {"a": {"priority": 1, "reserved": 0}, "b": {"priority": 1, "reserved": 0, "max": 2}}
FAIR = policy(q={"slots": 2, "order": "fair-share", "lanes": LANES})


@pytest.fixture(scope="module", params=KINDS)
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    with Server(request.param, "--appendonly", "no") as running:
        yield running


def asks(board: Board, job: str, owner: str, text: str, lane: str = "default") -> Any:
    """One job of that owner asks for a slot of the queue `q`."""
    return board.job_enqueue(job, "q", lane, owner=owner, policy="p", policy_json=text, record=record(job))


def listener(server: Server, board: Board, *jobs: str) -> Link:
    """A connection that listens for all of them."""
    link = connect(server.url)
    assert isinstance(link, Link)
    for start in range(0, len(jobs), 1000):
        link.send(("SUBSCRIBE", *[board.keys.wake(job) for job in jobs[start : start + 1000]]))
    link.call("PING")
    return link


def test_a_backlog_of_one_owner_holds_nobody_up(server: Server) -> None:
    """With 1,000 jobs of one owner waiting, another owner's single job starts when the first running job ends."""
    board = real_board(server.url)
    text = policy(q={"slots": 1, "order": "fair-share"})
    first = asks(board, "first", "busy", text)
    jobs = [f"busy{number}" for number in range(1000)]
    heard = listener(server, board, *jobs, "single")
    assert {asks(board, job, "busy", text).verdict for job in jobs} == {"waiting"}
    assert asks(board, "single", "rare", text).place == 1
    heard.pushes.clear()

    assert board.job_finish("first", "first", first.fence, "ok").verdict == "released"
    heard.call("PING")
    assert [push[1] for push in heard.pushes] == [board.keys.wake("single")]
    granted = board.job_beat("single", "single", "waiting")
    assert isinstance(granted, Granted)
    assert board.job_start("single", "single", granted.fence).verdict == "started"
    heard.close()


def test_owners_take_turns(server: Server) -> None:
    """Who has the fewest running jobs is next, then who was served longest ago, whatever the order in which they came."""
    board = real_board(server.url)
    text = policy(q={"slots": 1, "order": "fair-share"})
    running = asks(board, "x0", "x", text)
    jobs = [f"{owner}{number}" for owner in "xyz" for number in range(1, 4)]
    heard = listener(server, board, *jobs)
    for job in jobs:
        asks(board, job, job[0], text)
    order: list[str] = []
    job, fence = "x0", running.fence
    while len(order) < len(jobs):
        heard.pushes.clear()
        board.job_finish(job, job, fence, "ok")
        heard.call("PING")
        _, job, fence = str(heard.pushes[0][2]).split()
        board.job_start(job, job, fence)
        order.append(job)
    assert order == ["y1", "z1", "x1", "y2", "z2", "x2", "y3", "z3", "x3"]
    heard.close()


class Line:
    """A board with two running jobs and a line of so many waiting ones of as many owners, all listening."""

    def __init__(self, server: Server, waiting: int) -> None:
        self.board, self.waiting, self.came = timed_board(server.url), waiting, waiting
        self.board.link.call("HSET", self.board.keys.meta, "testMicros", 1_800_000_000_000_000)
        jobs = [f"job{number}" for number in range(waiting + CALLS)]
        self.heard = listener(server, self.board, *jobs)
        self.running = ["one", "two"]
        for number, job in enumerate([*self.running, *jobs[:waiting]]):
            if number % 500 < 2:
                asks(self.board, job, f"owner{number}", FAIR)  # and all that were only written are answered
            else:
                self._writes(job, number)
        self.board.link.call("PING")

    def _writes(self, job: str, number: int) -> None:
        values: dict[str, object] = {"job": job, "queue": "q", "lane": NAMES[number % 3], "owner": f"owner{number}"}
        values |= {"session": "", "parent": "", "wait": "1", "limit_ms": "", "policy": "p", "policy_json": FAIR}
        script, words = self.board.words("job_enqueue", {**values, "record": record(job)})
        self.board.link.post("EVALSHA", script.sha, *words)

    def step(self) -> float:
        """One job comes and one ends, which serves exactly one; returns the server's time for both in µs."""
        link, ends, number = self.board.link, self.running[0], self.came
        fence = board_job(self.board, ends)["fence"]
        link.call("CONFIG", "RESETSTAT")
        asks(self.board, f"job{number}", f"owner{number % self.waiting}", FAIR, NAMES[number % 3])
        self.board.job_finish(ends, ends, fence, "ok")
        spent = server_time(link)
        self.heard.call("PING")
        woken = [str(push[2]).split()[1] for push in self.heard.pushes if push[0] == "message"]
        self.heard.pushes.clear()
        assert len(woken) == 1
        self.running, self.came = [self.running[1], *woken], number + 1
        return spent


def board_job(board: Board, id: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(str(board.link.call("HGET", board.keys["JOBS"], id)))
    return found


def server_time(link: Any) -> float:
    """µs that the server spent in scripts since its statistics were reset."""
    lines = str(link.call("INFO", "commandstats")).splitlines()
    stats = [dict(pair.split("=") for pair in line.split(":")[1].split(",")) for line in lines if "_evalsha:" in line]
    return sum(float(one["usec"]) for one in stats)


def test_a_long_line_costs_nothing(server: Server) -> None:
    """An enqueue and a finish with 10,000 jobs of 10,000 owners waiting cost about what they cost with ten (≤ 2.5 times)."""
    lines = Line(server, 10), Line(server, 10_000)
    both = [[line.step() for line in lines] for _ in range(CALLS)]  # in turn: other load on the machine falls on both
    few, many = (statistics.median(column) for column in zip(*both, strict=True))
    print(f"{server.kind}: enqueue + finish {few:.0f} µs with ten waiting, {many:.0f} with 10,000")
    assert many / few <= 2.5, f"{many:.0f} µs with 10,000 waiting, {few:.0f} with ten"


def test_a_token_is_sixteen_digits() -> None:
    """Tickets and fences are written with 16 digits, so that their texts sort as their numbers do."""
    assert token(12) == "0000000000000012"
