"""The reference model: one method per script, the same verdicts, decided with lists and dicts."""

from __future__ import annotations

from typing import Any

from tests.model import policies as terms
from tests.model.rules import Rules, provisional
from tests.model.things import WAITS, Job

Verdict = dict[str, Any]
NO_TOKEN = ""


class Model(Rules):
    """Call `begin` before each; each ends with what its queue's line gets from it."""

    def enqueue(
        self, id: str, queue: str, lane: str, owner: str, parent: str | None, wait: bool, limit_ms: int | None,
        policy: str, content: terms.Policy, process: dict[str, Any],
    ) -> Verdict:  # fmt: skip
        known = self.jobs.get(id)
        if known is not None:
            self._confirmed(known)
            return self.waits(known) if known.state in WAITS else self.slot(known, "granted")
        if id in self.ended:
            return self.told(id)
        job = Job(id, queue, lane, owner, policy, self.caller, process, parent, self.now, provisional(), 0)
        self.join(policy, content)
        self.promote()
        job.lease = self.now + self.lease
        limits = self.terms(queue)
        assert limits is not None
        job.limit_ms = terms.smaller(limits["timeLimitMs"], limit_ms)
        holder = self.holder_above(queue, parent)
        if not self.settling and (holder or (not self.paused and self.admits(queue, lane))):
            job.inside = holder
            self.jobs[id] = job
            self.seat(job, "running")
            return self.slot(job, "granted")
        return self._behind(job, wait)

    def _behind(self, job: Job, wait: bool) -> Verdict:
        never = wait and job.parent is not None and self.cause == "full" and self.knot(job)
        if wait and not never:
            self.jobs[job.id] = job
            return self.waits(job)
        self.leave(job.policy)
        cause = "knot" if never else self.cause
        holders = {other.id for other in self.running(job.queue)}
        self.promote()
        return {"verdict": "knot" if never else "busy", "cause": cause, "holders": holders}

    def beat(self, id: str, instance: str, state: str, policy: str, content: terms.Policy | None) -> Verdict:
        job = self.jobs.get(id)
        if job is None:
            return self.told(id)
        if job.process["instance"] != instance:
            return {"verdict": "notYours"}
        job.lease, self.last_beat = self.now + self.lease, self.now
        if content is not None and policy != job.policy and self._names(content, job):
            old, job.policy = job.policy, policy
            self.join(policy, content)
            self.leave(old)
        if job.state in WAITS:
            self._ask(job)
        self.promote()
        if job.state in WAITS:
            return self.waits(job)
        if job.state == "granted" or state == "waiting":
            return self.slot(job, "granted")
        job.state, job.pids = state, job.pids if job.state == state else None
        return {"verdict": "running", "killBy": job.kill_by or "", "killReason": job.kill_reason or ""}

    @staticmethod
    def _names(content: terms.Policy, job: Job) -> bool:
        """A job changes only to a policy that names its queue and lane; else nobody might serve it any more."""
        queue = content.get("queues", {}).get(job.queue)
        return queue is not None and (job.lane == "default" or job.lane in queue.get("lanes", {}))

    def _ask(self, job: Job) -> None:
        holder = None if self.settling else self.holder_above(job.queue, job.parent)
        if holder:
            job.inside = holder
            self.seat(job, "running")
        else:
            job.state = "waiting"

    def start(self, id: str, instance: str, fence: int | str) -> Verdict:
        job = self.jobs.get(id)
        if job is None:
            return self.told(id, "expired")
        if job.process["instance"] != instance:
            return {"verdict": "notYours"}
        if job.fence != fence:
            return {"verdict": "expired", "how": "lapsed"}
        if job.state == "granted":
            job.lease = self.now + self.lease
        self._confirmed(job)
        return self.slot(job, "started")

    def _confirmed(self, job: Job) -> None:
        if job.state == "granted":
            job.state, job.started_at, job.deadline = "running", self.now, None

    def finish(self, id: str, instance: str, fence: int | str) -> Verdict:
        job = self.jobs.get(id)
        if job is None:
            return self._finished_before(id, instance, fence)
        if job.process["instance"] != instance or job.fence != fence:
            return {"verdict": "notYours"}
        self.end(job, "finished", by=job.kill_by or "")
        self.promote()
        return {"verdict": "released"}

    def _finished_before(self, id: str, instance: str, fence: int | str) -> Verdict:
        how = self.ended.get(id)
        if how is not None and how.instance != instance:
            return {"verdict": "notYours"}
        if how is not None and how.how == "finished" and how.fence == fence:
            return {"verdict": "released"}
        return self.told(id, "expired")

    def cancel(self, id: str, instance: str, by: str, reason: str, kill: bool) -> Verdict:
        job = self.jobs.get(id)
        if job is None:
            return self.told(id)
        own = instance == job.process["instance"]
        if job.state in WAITS or (job.state == "granted" and (own or kill)):
            self.end(job, "left" if own else "cancelled", cause=reason, by=by)
            self.wakes.append((id, "cancelled"))
            self.promote()
            return {"verdict": "cancelled"}
        if not kill:
            return {"verdict": "running", "state": job.state}
        job.kill_by, job.kill_reason = by, reason
        self.wakes.append((id, "kill"))
        return {"verdict": "killing", "pids": job.pids or []}

    def register(
        self, id: str, queue: str, lane: str, owner: str, parent: str | None, state: str, ticket: int | None,
        fence: int | None, inside: str, policy: str, content: terms.Policy, process: dict[str, Any],
        queued_at: int, limit_ms: int | None,
    ) -> Verdict:  # fmt: skip
        job = self.jobs.get(id)
        if job is not None and job.process["instance"] != process["instance"]:
            return {"verdict": "notYours"}
        if job is None and id in self.ended and self.ended[id].how != "lost":
            return self.told(id)
        runs = state in ("running", "stopped")
        if job is None or (runs and not self._stands(job, fence)):
            old = self.jobs.pop(id, None)
            self.ended.pop(id, None)
            job = Job(
                id, queue, lane, owner, policy, self.caller, process, parent, queued_at, ticket or provisional(), 0
            )
            job.limit_ms = limit_ms
            self.jobs[id] = job
            self.join(policy, content)
            if runs:
                self._reseat(job, state, fence, inside)
            if old:
                self.leave(old.policy)
        elif job.state == "away":
            job.state = "waiting"
        job.lease = self.now + self.lease
        self.promote()
        if job.state in WAITS:
            return self.waits(job)
        return self.slot(job, "granted" if job.state == "granted" or not runs else "running")

    @staticmethod
    def _stands(job: Job, fence: int | None) -> bool:
        """Whether the board has a running job as it is: with a slot, and with the fence that it was told."""
        return job.state not in (*WAITS, "granted") and fence in (None, job.fence)

    def _reseat(self, job: Job, state: str, fence: int | None, inside: str) -> None:
        """What runs counts, whatever the caps say: with its old fence, inside the slot it ran in if that is there."""
        holder = self.jobs.get(inside)
        if holder is not None and holder.state not in WAITS:
            job.inside = holder.inside or holder.id
        job.state, job.fence = state, fence or provisional()
        if job.inside is None:
            key = job.queue, job.owner
            self.served[key] = max(self.served.get(key, 0), job.fence)

    def sweep(self) -> Verdict:
        return {"verdict": "swept"}

    # --- what a caller is told

    def told(self, id: str, verdict: str = "ended") -> Verdict:
        how = self.ended.get(id)
        if how is None:
            return {"verdict": "unknown"}
        return {"verdict": verdict, "how": how.how, "cause": how.cause, "by": how.by, "at": how.at}

    def slot(self, job: Job, verdict: str) -> Verdict:
        if job.inside and verdict == "granted":
            verdict = "nested"
        return {
            "verdict": verdict, "fence": job.fence, "ticket": job.ticket, "limitMs": job.limit_ms, "owner": job.owner,
            "inside": job.inside or "",
        }  # fmt: skip

    def waits(self, job: Job) -> Verdict:
        """`place` is exact in a fifo queue, None where it is an estimate."""
        verdict = {"verdict": "waiting", "ticket": job.ticket, "queuedAt": job.queued_at, "cause": "notListening"}
        if job.state == "away":
            return {**verdict, "place": 1, "about": True, "holders": set()}
        limits = self.terms(job.queue)
        assert limits is not None
        fair = limits["order"] == "fair-share"
        verdict["cause"] = self.cause
        line = [other for other in self.waiting(job.queue) if other is not job]
        mine = limits["lanes"][job.lane]["priority"]

        def first(other: Job) -> bool:
            theirs = limits["lanes"][other.lane]["priority"]
            return bool(theirs > mine or (theirs == mine and other.ticket < job.ticket))

        verdict["place"] = None if fair else 1 + sum(map(first, line))
        verdict["about"] = fair
        verdict["holders"] = {other.id for other in self.running(job.queue)}
        verdict["ahead"] = {other.id for other in line if other.lane == job.lane and other.ticket < job.ticket}
        return verdict

    # --- knots

    def knot(self, asker: Job) -> bool:
        """Whether the wait could never end. Suppose that all who wait do so for ever; strike out who would be served if
        every slot that hangs on none of them were given back; when nobody is left to strike out, is the asker there?"""
        stuck = [asker, *(job for job in self.jobs.values() if job.state in WAITS)]
        while True:
            served = [job for job in stuck if self._could_serve(job, self._hanging(stuck))]
            if not served:
                return asker in stuck
            stuck = [job for job in stuck if job not in served]

    def _hanging(self, stuck: list[Job]) -> set[str]:
        """The holders whose slot comes back only when one of `stuck` has been served."""
        hanging = {job.id for one in stuck for job in self.ancestors(one.parent)}
        return hanging | {job.inside for job in self.jobs.values() if job.id in hanging and job.inside}

    def _could_serve(self, job: Job, hanging: set[str]) -> bool:
        limits = terms.limits(self.policies, job.queue, 0)  # a load may fall
        count: dict[str, int] = {}
        for holder in self.running(job.queue):
            if holder.id in hanging:
                count[holder.lane] = count.get(holder.lane, 0) + 1
        return limits is not None and terms.admits(limits, job.lane, count)
