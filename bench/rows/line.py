"""Enqueue and finish with a long line, under fair share in three lanes, against the same with a short one."""

from __future__ import annotations

import itertools
import json
import select
import time
from typing import TYPE_CHECKING

from bench.figures import Figure, median, ratio
from bench.place import stat
from coord.answers import Granted
from coord.board import Board
from coord.wire import connect

if TYPE_CHECKING:
    from bench.place import Place
    from coord.wire.link import Link

LONG, SHORT = 10_000, 10
BATCH = 20
"""Slots, and how many jobs come and end between two looks at the server's times."""
LANES = ("high", "default", "low")
QUEUE = {
    "slots": BATCH,
    "order": "fair-share",
    "lanes": {
        "high": {"priority": 10, "reserved": 1, "max": BATCH - 2},
        "default": {"priority": 0, "reserved": 1},
        "low": {"priority": -10, "reserved": 0},
    },
}
# A lease longer than the row takes: nobody beats here.
POLICY = json.dumps({"source": "bench", "leaseMs": 600_000, "queues": {"line": QUEUE}}, sort_keys=True)


class Line:
    """A board of its own with all slots taken and so many jobs waiting, each of another owner. All of them listen: they
    share the channel of this one connection."""

    def __init__(self, url: str, scope: str, waiting: int) -> None:
        self.link: Link = connect(url)  # type: ignore[assignment] # a unix socket is spoken to directly
        self.board = Board(self.link, scope, fresh=True)
        self.numbers = itertools.count()
        self.running: list[tuple[str, str]] = []
        self.until = int(time.time() * 1000) + 3_600_000
        self.link.call("PING")
        self.link.send(("SUBSCRIBE", self.board.keys.wake(scope)))
        for _ in range(BATCH + waiting):
            self.enqueue()
        self.keep_alive()

    def enqueue(self) -> None:
        number = next(self.numbers)
        job = f"{number:016x}"
        process = {"pid": 1, "start": "1", "instance": job}
        record = {"process": process, "command": "make all", "cwd": "/src/project", "wake": self.board.scope}
        answer = self.board.job_enqueue(
            job, "line", LANES[number % 3], owner=f"owner-{number}", policy="bench", policy_json=POLICY,
            record=json.dumps(record),
        )  # fmt: skip
        if isinstance(answer, Granted):
            self.running.append((job, answer.fence))

    def keep_alive(self) -> None:
        """Puts all leases an hour into the future: without their beats, the jobs would be late after 3 s, and looked at."""
        leases = self.board.keys.leases
        members: list[str] = self.link.call("ZRANGE", leases, 0, -1)  # type: ignore[assignment]
        for start in range(0, len(members), 1000):
            flat = [word for member in members[start : start + 1000] for word in (self.until, member)]
            self.link.call("ZADD", leases, *flat)

    def finish(self) -> None:
        job, fence = self.running.pop(0)
        self.board.job_finish(job, job, fence, "ok", code=0)

    def start_granted(self) -> None:
        """Confirms every grant that has come; not measured. All slots are taken again afterwards."""
        while len(self.running) < BATCH:
            if not self.link.pushes:
                select.select([self.link.fileno()], (), (), 5.0)
                self.board.poll()
            pushes, self.link.pushes = self.link.pushes, []
            for text in [str(push[2]) for push in pushes if push[0] == "message"]:
                _, job, fence = text.split(" ")
                self.board.job_start(job, job, fence)
                self.running.append((job, fence))

    def step(self) -> tuple[float, float, float]:
        """A batch: seconds for an enqueue and a finish together, and server µs of an enqueue and of a finish."""
        seconds, micros = 0.0, []
        for verb in (self.enqueue, self.finish):
            before = stat(self.link, "evalsha")
            begun = time.perf_counter()
            for _ in range(BATCH):
                verb()
            seconds += time.perf_counter() - begun
            after = stat(self.link, "evalsha")
            micros.append((after[1] - before[1]) / (after[0] - before[0]))
        self.start_granted()
        self.keep_alive()
        return seconds / BATCH, micros[0], micros[1]


def measure(place: Place, rounds: int) -> Figure:
    long, short = Line(place.url, "long", LONG), Line(place.url, "short", SHORT)
    place.reset()
    seen: dict[str, list[tuple[float, float, float]]] = {"long": [], "short": []}
    for _ in range(rounds):
        seen["long"].append(long.step())
        seen["short"].append(short.step())
    share = ratio([step[0] for step in seen["long"]], [step[0] for step in seen["short"]])
    enqueue, finish = (median([step[i] for step in seen["long"]]) for i in (1, 2))
    few = [median([step[i] for step in seen["short"]]) for i in (1, 2)]
    long.link.call("UNLINK", *long.board.keys.all(), *short.board.keys.all())
    long.link.close()
    short.link.close()
    return Figure(
        f"enqueue + finish with {LONG:,} jobs of {LONG:,} owners waiting, fair share, 3 lanes ÷ with {SHORT} waiting",
        "≤ 1.5, ≤ 150 µs server time a call",
        f"{share:.2f}, enqueue {enqueue:.0f} µs, finish {finish:.0f} µs",
        share <= 1.5 and max(enqueue, finish) <= 150,
        [f"with {SHORT} waiting: enqueue {few[0]:.0f} µs, finish {few[1]:.0f} µs"],
    )
