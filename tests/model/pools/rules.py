"""What holds for every call of the pools' reference model: deaths, deadlines, caps, holds, the allowance.

Written from the design (20, 21, 30) on top of the queues' model, whose clock, gaps, policies and jobs it shares.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any

from tests.model.model import Model
from tests.model.pools.things import Place, Session, Slot
from tests.model.rules import BEAT_AND_A_HALF, TOMBSTONE_KEPT
from tests.model.things import Ended, Job

BRIDGE_AWAY = 60_000


class PoolRules(Model):
    """The board with sessions: `sessions` and `slots` by id, `line` by pool and session."""

    def clear(self) -> None:
        super().clear()
        self.sessions: dict[str, Session] = {}
        self.slots: dict[str, Slot] = {}
        self.line: dict[tuple[str, str], Place] = {}

    # --- what the queues' rules leave open

    def _used(self, name: str) -> bool:
        return super()._used(name) or any(session.policy == name for session in self.sessions.values())

    def _shift(self, by: int) -> None:
        super()._shift(by)
        for session in self.sessions.values():
            session.lease += by
        for slot in self.slots.values():
            slot.deadline = None if slot.deadline is None else slot.deadline + by
        for place in self.line.values():
            place.until = None if place.until is None else place.until + by

    def _vouched(self, seen: dict[str, Any]) -> None:
        session = self.sessions.get(seen["id"])
        if session is None:
            return super()._vouched(seen)
        if any(session.process[name] != seen[name] for name in ("pid", "start", "instance")):
            return None
        if seen["is"] == "gone":
            return self.end_session(session, "died", cause="its process is gone")
        lost = session.bridge_lost_at
        if seen["is"] == "live":
            session.bridge_lost_at = None
        elif lost is None or lost > self.now:
            session.bridge_lost_at = self.now
        elif self.now - lost >= BRIDGE_AWAY:
            return self.end_session(session, "bridgeLost", cause="its bridge was gone for 60 s")
        session.lease = self.now + self.lease
        return None

    def _sweep(self) -> None:
        self.ended = {id: how for id, how in self.ended.items() if self.now - how.at < TOMBSTONE_KEPT}
        late = self.now + max(0, self.lease - BEAT_AND_A_HALF)
        there: list[Job | Session] = [*self.jobs.values(), *self.sessions.values()]
        for one in sorted((one for one in there if one.lease <= late), key=_by_lease):
            if one.machine == self.caller:
                self.suspect(one)  # type: ignore[arg-type]
            elif one.lease <= self.now and isinstance(one, Session):
                self.end_session(one, "lost", cause="its lease lapsed")
            elif one.lease <= self.now and not isinstance(one, Session):
                self.end(one, "lost", cause="its lease lapsed")
        self._deadlines()

    def _deadlines(self) -> None:
        for job in list(self.jobs.values()):
            if job.deadline is not None and job.deadline <= self.now:
                self.pass_over(job)
        for slot in list(self.slots.values()):
            if slot.deadline is not None and slot.deadline <= self.now:
                del self.slots[slot.id]
        for key, place in list(self.line.items()):
            if place.until is not None and place.until <= self.now:
                del self.line[key]

    def promote(self) -> None:
        super().promote()
        if self.settling or self.paused:
            return
        for pool in sorted({place.queue for place in self.line.values()}):
            self._promote_pool(pool)

    def _promote_pool(self, pool: str) -> None:
        limits = self.caps(pool)
        while limits is not None and self.used(pool) + self.held(pool) > limits["effective"] and self.held(pool):
            last = max((place for place in self.places(pool) if place.held), key=lambda place: place.ticket)
            last.held, last.until = False, None
            self.wakes.append((last.session, "withdrawn"))
        for place in self.places(pool):
            if limits is None or self.used(pool) + self.held(pool) >= limits["effective"]:
                return
            session = self.sessions[place.session]
            if not place.held and session.lease > self.now:
                place.held, place.until = True, self.now + self.agents_of(session).get("holdMs", 300_000)
                self.wakes.append((session.id, "hold"))

    # --- pools

    def agents_of(self, session: Session) -> dict[str, Any]:
        """What the session's own policy says of agents."""
        found: dict[str, Any] = self.policies[session.policy].get("agents", {})
        return found

    def pool_for(self, rules: dict[str, Any], type: str, kind: str) -> str | None:
        """The pool that a type counts against: none for exempt and nested ones."""
        if kind == "sub" or matches(type, rules.get("exempt", [])):
            return None
        named = [pool["name"] for pool in rules.get("pools", []) if matches(type, pool["types"])]
        found: str | None = named[0] if named else rules.get("defaultPool")
        return found

    def caps(self, pool: str | None) -> dict[str, Any] | None:
        """The effective cap: the smallest that any live policy names, less while the load is above a threshold."""
        said = [policy["pools"][pool] for policy in self.policies.values() if pool in policy.get("pools", {})]
        if not said:
            return None
        cap = min(one["cap"] for one in said)
        lowered = [n for one in said for above, n in one.get("loadCaps", []) if self.load > above]
        effective = min([cap, *lowered])
        differ = len({one["cap"] for one in said}) > 1
        by = "load" if effective < cap else "policy" if differ else None
        return {"cap": cap, "highest": max(one["cap"] for one in said), "effective": effective, "limitedBy": by}

    def used(self, pool: str | None) -> int:
        return sum(1 for slot in self.slots.values() if slot.pool == pool) if pool else 0

    def held(self, pool: str | None) -> int:
        return sum(1 for place in self.line.values() if place.queue == pool and place.held)

    def places(self, pool: str) -> list[Place]:
        """A pool's line in ticket order."""
        return sorted((one for one in self.line.values() if one.queue == pool), key=lambda one: one.ticket)

    def slots_of(self, session: str) -> list[Slot]:
        """Oldest first."""
        return sorted((s for s in self.slots.values() if s.session == session), key=lambda s: (s.since, s.id))

    def allowance(self, session: Session) -> tuple[str, str]:
        """How many spawns omp's own queue may let through, or "" and why not."""
        mine, rules = self.slots_of(session.id), self.agents_of(session)
        pool = rules.get("defaultPool")
        limits = self.caps(pool)
        if self.paused or len(self.sessions) > 1 or any(slot.unqueued == "eval" for slot in mine):
            return "", "paused" if self.paused else "others" if len(self.sessions) > 1 else "eval"
        if limits is None:
            return "", "none"
        own = (pool or "", session.id) in self.line and self.line[pool or "", session.id].held
        total = sum(1 for slot in mine if slot.kind == "main" and slot.unqueued is None) + int(own)
        total += max(0, limits["effective"] - self.used(pool) - self.held(pool))
        return (str(total), "") if total else ("", "none")

    # --- the end of a session

    def end_session(self, session: Session, how: str, *, cause: str = "") -> None:
        del self.sessions[session.id]
        self.slots = {id: slot for id, slot in self.slots.items() if slot.session != session.id}
        self.line = {key: place for key, place in self.line.items() if place.session != session.id}
        self.ended[session.id] = Ended(how, "", self.now, session.process["instance"], None, cause)
        self.leave(session.policy)


def matches(type: str, patterns: list[str]) -> bool:
    return any(fnmatchcase(type.lower(), pattern) for pattern in patterns)


def _by_lease(one: Job | Session) -> tuple[int, str, str]:
    """Ties go by what stands in `leases`; it matters only for which policy is the last of an empty board."""
    return one.lease, "s" if isinstance(one, Session) else "j", one.id
