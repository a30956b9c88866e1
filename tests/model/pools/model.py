"""The reference model of sessions and pools: one method per script, the same verdicts."""

from __future__ import annotations

import itertools
from typing import Any

from tests.model import policies as terms
from tests.model.model import Verdict
from tests.model.pools.rules import PoolRules, matches
from tests.model.pools.things import Agent, Place, Session, Slot
from tests.model.rules import provisional
from tests.model.things import Pause

FLICKER = 500
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class PoolModel(PoolRules):
    """Call `begin` before each; `promote` after it."""

    # --- sessions

    def open_session(
        self, id: str, host_session: str, label: str, policy: str, content: terms.Policy, agents: list[tuple[Agent, str]],
        tickets: dict[str, int], record: dict[str, Any],
    ) -> Verdict:  # fmt: skip
        session = self._before(host_session, record["process"])
        old = session.policy if session else policy
        if session is None:
            session = Session(id, self._letter(label), host_session, self.caller, {}, {}, "", policy, self.now, 0)
            self.ended.pop(id, None)
            self.sessions[id] = session
        session.cwd, session.process, session.bridge = record["cwd"], record["process"], record["bridge"]
        session.policy, session.bridge_lost_at = policy, None
        self.join(policy, content)
        self.leave(old)
        session.lease = self.now + self.lease
        for pool, ticket in tickets.items():
            self.line.setdefault((pool, session.id), Place(pool, session.id, ticket))
        self._list(session, agents)
        others = [other.id for other in self._by_letter() if other is not session]
        files = sorted(
            said["source"] for name, said in self.policies.items() if name != policy and not said.get("fallback")
        )
        return {
            "verdict": "joined", "session": session.id, "label": session.label, "alone": not others, "others": others,
            "paused": self.pause_told(), "files": files,
        }  # fmt: skip

    def _before(self, host_session: str, process: dict[str, Any]) -> Session | None:
        """The session that the same host process had under the same host session id."""
        for session in self.sessions.values():
            same = all(session.process[name] == process[name] for name in ("pid", "start"))
            if same and (session.host_session, session.machine) == (host_session, self.caller):
                return session
        return None

    def _letter(self, wanted: str) -> str:
        taken = {session.label for session in self.sessions.values()}
        if wanted and wanted not in taken:
            return wanted
        pairs = ("".join(pair) for pair in itertools.product(ALPHABET, repeat=2))
        return next(name for name in itertools.chain(ALPHABET, pairs) if name not in taken)

    def _by_letter(self) -> list[Session]:
        return sorted(self.sessions.values(), key=lambda session: (len(session.label), session.label))

    def beat_session(
        self, id: str, instance: str, agents: set[str], policy: str, content: terms.Policy | None
    ) -> Verdict:
        session = self.sessions.get(id)
        if session is None or session.process["instance"] != instance:
            return {"verdict": "notYours"} if session else self.told(id)
        self.last_beat, session.bridge_lost_at = self.now, None
        if content is not None and policy != session.policy:
            old, session.policy = session.policy, policy
            self.join(policy, content)
            self.leave(old)
        session.lease = self.now + self.lease
        self.promote()
        return {**self._picture(session), "sync": agents != self._running(id)}

    def _running(self, id: str) -> set[str]:
        return {slot.agent or "" for slot in self.slots_of(id) if slot.state == "running"}

    def _picture(self, session: Session) -> Verdict:
        mine = [place for place in self.line.values() if place.session == session.id]
        pools = [pool["name"] for pool in self.agents_of(session).get("pools", [])]
        return {
            "verdict": "alive", "label": session.label, **self._allowed(session), "paused": self.pause_told(),
            "holds": {place.queue: (place.ticket, place.until) for place in mine if place.held},
            "line": {place.queue: (place.ticket, self.place(place)) for place in mine if not place.held},
            "pools": [(pool, self.used(pool), (self.caps(pool) or {"effective": None})["effective"]) for pool in pools],
            "watch": self._watch(session, [place for place in mine if not place.held]),
            "waitingJobs": sum(1 for job in self.jobs.values() if job.state == "waiting"),
        }  # fmt: skip

    def _watch(self, session: Session, mine: list[Place]) -> set[str]:
        """The sessions of this machine that stand between it and its turn."""
        pools = {place.queue for place in mine}
        seen = {slot.session for slot in self.slots.values() if slot.pool in pools}
        seen |= {other.session for place in mine for other in self.places(place.queue) if other.ticket < place.ticket}
        return {id for id in seen - {session.id} if self.sessions[id].machine == self.caller}

    def leave_session(self, id: str, instance: str, reason: str) -> Verdict:
        session = self.sessions.get(id)
        if session is None or session.process["instance"] != instance:
            return {"verdict": "notYours"} if session else self.told(id)
        self.end_session(session, reason)
        return {"verdict": "left", "alone": not self.sessions and not self.jobs}

    # --- agents

    def spawn(self, id: str, slot: str, agent: Agent, invocation: str) -> Verdict:
        """`agent.id` is the spawn key, "" when there is none."""
        session = self.sessions.get(id)
        if session is None:
            return {"verdict": "unknown"}
        rules, given = self.agents_of(session), self.slots.get(slot)
        pool = given.pool if given else self.pool_for(rules, agent.type, agent.kind)
        cause = "" if given else self._refusal(session, agent, pool)
        place, used = None, self.used(pool)
        if cause and pool:
            place = self.line.setdefault((pool, id), Place(pool, id, provisional()))
        elif not given and not cause:
            self.line.pop((pool or "", id), None)
            self.slots[slot] = Slot(
                slot, id, agent.id or None, agent.parent, agent.kind, agent.type, pool, "starting", self.now,
                "eval" if invocation == "eval" else None, deadline=self.now + rules.get("startTimeoutMs", 120_000),
            )  # fmt: skip
        limits = self.caps(pool)
        verdict: Verdict = {
            "verdict": "refused" if cause else "approved", "pool": pool or "", "used": used,
            "cap": limits["effective"] if limits else None, **self._allowed(session),
        }  # fmt: skip
        if not cause:
            return {**verdict, "unqueued": self.slots[slot].unqueued or ""}
        at = self.place(place) if place else ""
        return {**verdict, "cause": cause, "place": at, "holders": self._holders(pool)}

    def _refusal(self, session: Session, agent: Agent, pool: str | None) -> str:
        """Why this may not start now, "" when it may. Own runs just ended are settled as far as that helps."""
        nested = self.agents_of(session).get("nested", {})
        if agent.kind == "sub" and not matches(agent.type, nested.get("types", [])):
            return "nestedType"
        if self.paused or self.settling:
            return "paused" if self.paused else "settling"
        if agent.kind == "sub":
            children = [slot for slot in self.slots_of(session.id) if slot.parent == agent.parent]
            enough = self._settle(children, len(children) - nested.get("maxRunningPerParent", 1) + 1)
            return "" if enough else "nestedFull"
        return self._refused_by_pool(session, pool)

    def _refused_by_pool(self, session: Session, pool: str | None) -> str:
        limits = self.caps(pool)
        if pool is None or limits is None:
            return ""
        own = (pool, session.id) in self.line and self.line[pool, session.id].held
        mine = [slot for slot in self.slots_of(session.id) if slot.pool == pool]
        if self._settle(mine, self.used(pool) + self.held(pool) - own - limits["effective"] + 1):
            return ""
        if self.used(pool) < limits["effective"]:
            return "held"
        return limits["limitedBy"] if limits["limitedBy"] and self.used(pool) < limits["highest"] else "full"

    def _settle(self, among: list[Slot], needed: int) -> bool:
        """Frees up to `needed` of those that are ending, oldest first; says whether that was enough."""
        ending = [slot for slot in among if slot.state == "ending"]
        for slot in ending[: max(0, needed)]:
            del self.slots[slot.id]
        return len(ending) >= needed

    def start_agent(self, id: str, slot: str, agent: Agent) -> Verdict:
        session = self.sessions.get(id)
        if session is None:
            return {"verdict": "unknown"}
        over, pool = self._start(session, slot, agent)
        mark = self._mark(id, agent)
        return {
            "verdict": "started", "overBy": over, "pool": pool or "", "unqueued": mark or "", **self._allowed(session)
        }  # fmt: skip

    def _mark(self, id: str, agent: Agent) -> str | None:
        runs = (one for one in self.slots_of(id) if one.agent == agent.id and one.state == "running")
        return next((one.unqueued for one in runs), None)

    def _start(self, session: Session, id: str, agent: Agent) -> tuple[int, str | None]:
        slot, over = self._slot_of(session, agent), 0
        if slot is not None and slot.state == "running":
            slot.absent = False
            return 0, slot.pool
        if slot is None:
            pool = self.pool_for(self.agents_of(session), agent.type, agent.kind)
            unqueued = None if agent.unqueued == "none" else agent.unqueued
            slot = Slot(id, session.id, agent.id, agent.parent, agent.kind, agent.type, pool, "new", 0, unqueued)
            self.slots[id] = slot
            limits = self.caps(pool)
            over = max(0, self.used(pool) - limits["effective"]) if limits else 0
        slot.since = slot.since if slot.state == "ending" else self.now
        slot.agent, slot.state, slot.deadline, slot.absent = agent.id, "running", None, False
        return over, slot.pool

    def _slot_of(self, session: Session, agent: Agent) -> Slot | None:
        """The agent's own; else one that waits for that id; else the oldest that waits for this type from this parent."""
        mine = self.slots_of(session.id)
        known = [slot for slot in mine if slot.agent == agent.id and slot.state != "starting"]
        waits = [slot for slot in mine if slot.state == "starting"]
        by_id = [slot for slot in waits if slot.agent == agent.id]
        alike = [slot for slot in waits if (slot.parent, slot.type.lower()) == (agent.parent, agent.type.lower())]
        return next(iter([*known, *by_id, *alike]), None)

    def end_agent(self, id: str, agent: str) -> Verdict:
        session = self.sessions.get(id)
        if session is None:
            return {"verdict": "unknown"}
        for slot in self.slots_of(id):
            if slot.agent == agent and slot.state == "running":
                slot.state, slot.deadline = "ending", self.now + FLICKER
        return {"verdict": "ending", **self._allowed(session)}

    def list_agents(self, id: str, agents: list[tuple[Agent, str]]) -> Verdict:
        session = self.sessions.get(id)
        if session is None:
            return {"verdict": "unknown"}
        return {"verdict": "synced", "started": self._list(session, agents), **self._allowed(session)}

    def _list(self, session: Session, agents: list[tuple[Agent, str]]) -> list[dict[str, Any]]:
        """Absent from two lists in a row: ended. Unlisted until now: counted. Those whose run began by that."""
        began = []
        for agent, slot in agents:
            ran = {one.agent for one in self.slots_of(session.id) if one.state == "running"}
            over, pool = self._start(session, slot, agent)
            if agent.id not in ran:
                told = {"id": agent.id, "pool": pool or "", "overBy": over}
                began.append({**told, "unqueued": self._mark(session.id, agent) or ""})
        named = {agent.id for agent, _ in agents}
        for own in self.slots_of(session.id):
            if own.state == "running" and own.agent not in named and own.absent:
                del self.slots[own.id]
            elif own.state == "running":
                own.absent = own.agent not in named
        return began

    # --- line and pause

    def leave_line(self, id: str, pool: str) -> Verdict:
        if id not in self.sessions:
            return {"verdict": "unknown"}
        mine = {name for name, session in self.line if session == id and pool in ("", name)}
        for name in mine:
            del self.line[name, id]
        return {"verdict": "left", "pools": mine}

    def pause_board(self, by: str, label: str, reason: str) -> Verdict:
        held = dict(self.pause.held) if self.pause else {}
        for key, place in self.line.items():
            if place.until is not None:
                held[key], place.until = place.until - self.now, None
        self.pause = Pause(by, label, reason, self.pause.since if self.pause else self.now, held)
        return {"verdict": "paused"}

    def resume_board(self) -> Verdict:
        was, self.pause = self.pause, None
        for key, left in was.held.items() if was else ():
            if key in self.line and self.line[key].held:
                self.line[key].until = self.now + left
        return {"verdict": "resumed", "was": was is not None}

    # --- what a caller is told

    def place(self, place: Place) -> int:
        return 1 + sum(1 for other in self.places(place.queue) if other.ticket < place.ticket)

    def pause_told(self) -> dict[str, Any] | None:
        if self.pause is None:
            return None
        told = {"by": self.pause.by, "label": self.pause.label, "reason": self.pause.reason, "since": self.pause.since}
        return {name: value for name, value in told.items() if value != ""}

    def _allowed(self, session: Session) -> Verdict:
        allowance, why = self.allowance(session)
        return {"allowance": allowance, "why": why}

    def _holders(self, pool: str | None) -> list[tuple[str, int]]:
        count: dict[str, int] = {}
        for slot in self.slots.values():
            if pool and slot.pool == pool:
                label = self.sessions[slot.session].label
                count[label] = count.get(label, 0) + 1
        return sorted(count.items(), key=lambda pair: (-pair[1], pair[0]))
