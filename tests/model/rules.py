"""What holds for every call of the reference model: clock, new boards, deaths, policies, lanes, turns, grants.

Written from the design (20, 21, 40) with lists and dicts. Tickets and fences that the model hands out are *provisional*:
greater than every real one, in order. `World` puts the board's real numbers in their place after each step, having checked
that they are in the same order, so the model never has to know how the board counts.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from tests.model import policies as terms
from tests.model.things import WAITS, Call, Ended, Job, Pause

BEAT_AND_A_HALF = 3000
CONFIRM_WITHIN = 5000
TOMBSTONE_KEPT = 3_600_000
MOST_SUSPECTS = 32
_provisional = itertools.count(9 * 10**15)


class Rules:
    """The board as lists and dicts. `listening` is kept by the world: ids of waiters subscribed to their channel."""

    def __init__(self) -> None:
        self.listening: set[str] = set()
        self.clear()

    def clear(self) -> None:
        """FLUSHALL: nothing is left."""
        self.jobs: dict[str, Job] = {}
        self.ended: dict[str, Ended] = {}
        self.policies: dict[str, terms.Policy] = {}
        self.loads: dict[str, tuple[float, int]] = {}
        self.served: dict[tuple[str, str], int] = {}
        self.epoch = ""
        self.settle_until = self.last_op = self.last_beat = self.moved_at = self.now = 0
        self.lease = 10000
        self.pause: Pause | None = None
        self.load = self.own_load = 0.0

    # --- the start of every call

    def begin(self, call: Call) -> None:
        self.caller, self.own_load = call.machine, call.load
        self.load = call.load
        self.suspects: list[str] = []
        self.wakes: list[tuple[str, str]] = []
        self._make(call) if not self.epoch else self._move_time(call.clock)
        self.last_op = self.now
        if 0 < self.settle_until <= self.now:
            self.settle_until = 0
        for seen in call.vouch:
            self._vouched(seen)
        self._sweep()
        self.note_load()
        self.promote()

    @property
    def settling(self) -> bool:
        return self.settle_until > self.now

    @property
    def paused(self) -> bool:
        return self.pause is not None

    @property
    def cause(self) -> str:
        """Why who asks for a slot must wait."""
        return "settling" if self.settling else "paused" if self.paused else "full"

    def _make(self, call: Call) -> None:
        self.now = self.last_beat = call.clock
        self.epoch = call.epoch
        self.settle_until = 0 if call.fresh else self.now + BEAT_AND_A_HALF

    def _move_time(self, clock: int) -> None:
        back = self.last_op - clock
        if back > 1000:
            self.now = clock
            self._shift(-back)
            self.last_beat -= back
            self.moved_at -= back if self.moved_at else 0
            self.settle_until -= back if self.settle_until else 0
            return
        self.now = max(clock, self.last_op)
        gap = self.now - self.last_beat
        if gap > max(self.lease / 2, 3000) and self.moved_at <= self.last_beat:
            self._shift(gap)
            self.moved_at = self.now

    def _shift(self, by: int) -> None:
        for job in self.jobs.values():
            job.lease += by
            if job.deadline is not None:
                job.deadline += by

    def note_load(self) -> None:
        """The highest load younger than one lease counts; loads are gathered while some policy has a threshold."""
        if not terms.thresholds(self.policies):
            return
        self.loads[self.caller] = (self.own_load, self.now)
        self.loads = {name: (load, at) for name, (load, at) in self.loads.items() if 0 <= self.now - at <= self.lease}
        self.load = max(load for load, _ in self.loads.values())

    def _vouched(self, seen: dict[str, Any]) -> None:
        job = self.jobs.get(seen["id"])
        if job is None or any(job.process[name] != seen[name] for name in ("pid", "start", "instance")):
            return
        if seen["is"] == "gone":
            self.end(job, "lost", cause="its process is gone")
            return
        if seen["is"] == "orphaned" and job.state not in WAITS:
            job.state, job.pids, job.deadline = "orphaned", seen["pids"], None
        job.lease = self.now + self.lease

    def _sweep(self) -> None:
        self.ended = {id: how for id, how in self.ended.items() if self.now - how.at < TOMBSTONE_KEPT}
        late = self.now + max(0, self.lease - BEAT_AND_A_HALF)
        for job in sorted(self.jobs.values(), key=lambda job: (job.lease, job.id)):
            if job.lease > late or job.id not in self.jobs:
                continue
            if job.machine == self.caller:
                self.suspect(job)
            elif job.lease <= self.now:
                self.end(job, "lost", cause="its lease lapsed")
        for job in list(self.jobs.values()):
            if job.deadline is not None and job.deadline <= self.now:
                self.pass_over(job)

    def suspect(self, job: Job) -> None:
        if job.machine == self.caller and len(self.suspects) < MOST_SUSPECTS and job.id not in self.suspects:
            self.suspects.append(job.id)

    # --- policies

    def terms(self, queue: str) -> dict[str, Any] | None:
        return terms.limits(self.policies, queue, self.load)

    def join(self, name: str, content: dict[str, Any]) -> None:
        """A policy's first user comes; those without users, which only the last may be, go."""
        if name in self.policies:
            return
        self.policies = {old: said for old, said in self.policies.items() if self._used(old)}
        had = terms.thresholds(self.policies)
        self.policies[name] = content
        self.lease = terms.lease_of(self.policies)
        if not had:
            self.note_load()

    def leave(self, name: str) -> None:
        """A user of a policy went; the last policy stays until another comes."""
        if len(self.policies) > 1 and not self._used(name):
            self.policies.pop(name, None)
            self.lease = terms.lease_of(self.policies)

    def _used(self, name: str) -> bool:
        return any(job.policy == name for job in self.jobs.values())

    # --- slots

    def running(self, queue: str) -> Iterator[Job]:
        return (job for job in self.jobs.values() if job.queue == queue and job.holds)

    def waiting(self, queue: str) -> Iterator[Job]:
        return (job for job in self.jobs.values() if job.queue == queue and job.state == "waiting")

    def by_lane(self, queue: str) -> dict[str, int]:
        count: dict[str, int] = {}
        for job in self.running(queue):
            count[job.lane] = count.get(job.lane, 0) + 1
        return count

    def admits(self, queue: str, lane: str) -> bool:
        limits = self.terms(queue)
        return limits is not None and terms.admits(limits, lane, self.by_lane(queue))

    def promote(self) -> None:
        """Free slots go to who is next, in every queue."""
        if self.settling or self.paused:
            return
        for queue in sorted({job.queue for job in self.jobs.values() if job.state == "waiting"}):
            while (job := self._next(queue)) is not None:
                self._offer(job)

    def _next(self, queue: str) -> Job | None:
        limits = self.terms(queue)
        if limits is None:
            return None
        fair = limits["order"] == "fair-share"
        heads = []
        for lane, own in limits["lanes"].items():
            line = [job for job in self.waiting(queue) if job.lane == lane]
            if line and self.admits(queue, lane):
                head = min(line, key=lambda job: (self.turn(job) if fair else (), job.ticket))
                heads.append((-own["priority"], self.turn(head)[:2] if fair else (), head.ticket, head))
        return min(heads, key=lambda head: head[:3])[3] if heads else None

    def turn(self, job: Job) -> tuple[int, int, str]:
        """Fewest running jobs of the queue, then served longest ago."""
        running = sum(1 for other in self.running(job.queue) if other.owner == job.owner)
        return running, self.served.get((job.queue, job.owner), 0), job.owner

    def _offer(self, job: Job) -> None:
        if job.lease <= self.now or job.id not in self.listening:
            self.pass_over(job)
            return
        self.seat(job, "granted")
        job.deadline = self.now + CONFIRM_WITHIN
        self.wakes.append((job.id, "granted"))

    def pass_over(self, job: Job) -> None:
        """Out of the line, its ticket kept."""
        job.state, job.fence, job.granted_at, job.deadline = "away", None, None, None
        self.suspect(job)

    def seat(self, job: Job, state: str) -> None:
        job.fence = next(_provisional)
        job.state, job.granted_at = state, self.now
        if state == "running":
            job.started_at = self.now
        if job.inside is None:
            self.served[job.queue, job.owner] = job.fence

    def end(self, job: Job, how: str, *, cause: str = "", by: str = "") -> None:
        """Off the board; the slot passes to the first that runs inside it."""
        del self.jobs[job.id]
        self.ended[job.id] = Ended(how, job.queue, self.now, job.process["instance"], job.fence, cause, by)
        inner = sorted((other for other in self.jobs.values() if other.inside == job.id), key=lambda other: other.id)
        for other in inner:
            other.inside = None if other is inner[0] else inner[0].id
        self.leave(job.policy)

    # --- ancestors

    def ancestors(self, parent: str | None) -> list[Job]:
        """The chain of parents that are on the board, nearest first."""
        chain: list[Job] = []
        while parent is not None and (job := self.jobs.get(parent)) is not None and job not in chain:
            chain.append(job)
            parent = job.parent
        return chain

    def holder_above(self, queue: str, parent: str | None) -> str | None:
        for job in self.ancestors(parent):
            if job.queue == queue and job.state not in WAITS:
                return job.inside or job.id
        return None


def provisional() -> int:
    """A ticket or fence later than all before."""
    return next(_provisional)
