"""The board and the model of sessions and pools side by side."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any

from coord.answers import Answer
from coord.board import Board
from tests.model.model import Verdict
from tests.model.picture import Picture
from tests.model.pools import checks, picture
from tests.model.pools.host import Host
from tests.model.pools.model import PoolModel
from tests.model.pools.things import Agent
from tests.model.world import World


class PoolWorld(World):
    """One scope with sessions. With `again` set every call of a session is made twice, which must change nothing."""

    reference = PoolModel
    model: PoolModel

    def __init__(self, url: str, scope: str, policies: dict[str, dict[str, Any]], fresh: bool) -> None:
        super().__init__(url, scope, policies, fresh)
        self.hosts: list[Host] = []
        self.again = False

    # --- what is compared

    def _sides(self) -> list[tuple[Any, Any]]:
        lines = [member.split("|") for member in self.picture.lexical["line"] if member[0] == "p"]
        theirs = {(pool, session): {"ticket": ticket} for _, pool, ticket, session in lines}
        return super()._sides() + [(place, theirs.get(key)) for key, place in self.model.line.items()]

    def _holds(self, name: str, machine: str, before: Picture) -> None:
        checks.all_of(name, machine, before, self.picture, self.model)

    def _told(self, answer: Answer) -> dict[str, Any]:
        return checks.told(answer)

    def _expected(self) -> dict[str, Any]:
        return picture.expected(self.model)

    def _plain(self) -> dict[str, Any]:
        return picture.plain(self.picture)

    def twice(self, name: str, machine: str, ours: Callable[[], Verdict], theirs: Callable[[Board], Answer]) -> Answer:
        """One call, perhaps repeated because its answer was lost: the same words bring the same board."""
        answer = self.both(name, machine, ours, theirs)
        if self.again:
            before = self._plain()
            self.both(f"{name} again", machine, ours, theirs)
            after = self._plain()
            assert after == before, f"{name}, repeated, changes the board"
        return answer

    # --- sessions

    def join(self, host: Host, listed: list[Agent] | None = None, wanted: str = "") -> Answer:
        """It opens, or comes back, with what runs; `listed`: what it says that runs."""
        agents = self._listed(host, listed)
        content, id, tickets, record = self.policies[host.policy], host.id, dict(host.tickets), host.record()
        answer = self._once_if_missing(host, agents)(
            f"join {id}", host.machine,
            lambda: self.model.open_session(
                id, host.host_session, wanted, host.policy, content, agents, tickets, record
            ),
            lambda board: board.session_join(
                id, host.host_session, label=wanted, policy=host.policy, policy_json=json.dumps(content),
                agents=_json(agents), record=json.dumps(record),
            ),
        )  # fmt: skip
        host.hears(answer)
        self.listen(host.id)
        return answer

    def _listed(self, host: Host, listed: list[Agent] | None) -> list[tuple[Agent, str]]:
        return [(agent, self.slot()) for agent in (host.runs.values() if listed is None else listed)]

    def _once_if_missing(self, host: Host, agents: list[tuple[Agent, str]]) -> Callable[..., Answer]:
        """Two lists in a row mean more than one: a list that lacks somebody is not repeated."""
        named = {agent.id for agent, _ in agents}
        lacks = any(slot.state == "running" and slot.agent not in named for slot in self.model.slots.values())
        return self.both if lacks else self.twice

    def slot(self) -> str:
        return f"slot{next(self.ids)}"

    def beat_session(self, host: Host, policy: str = "", instance: str = "") -> Answer:
        """A session that the board does not know joins again with what it has."""
        content = self.policies.get(policy)
        agents, instance = set(host.runs), instance or host.process["instance"]
        hashed = hashlib.sha1("\n".join(sorted(agents)).encode()).hexdigest()
        answer = self.twice(
            f"session_beat {host.id}", host.machine,
            lambda: self.model.beat_session(host.id, instance, agents, policy, content),
            lambda board: board.session_beat(
                host.id, instance, hashed, policy=policy, policy_json=json.dumps(content) if content else ""
            ),
        )  # fmt: skip
        session = self.model.sessions.get(host.id)
        host.policy = session.policy if session else host.policy
        return host.hears(answer) if instance == host.process["instance"] else answer

    def leave(self, host: Host, reason: str = "exit", instance: str = "") -> Answer:
        instance = instance or host.process["instance"]
        return self.twice(
            f"leave {host.id}", host.machine,
            lambda: self.model.leave_session(host.id, instance, reason),
            lambda board: board.session_leave(host.id, instance, reason),
        )  # fmt: skip

    # --- agents

    def spawn(self, host: Host, agent: Agent, invocation: str = "task") -> Answer:
        """`agent.id` is the spawn key."""
        slot = self.slot()
        return self.twice(
            f"spawn {host.id} {agent}", host.machine,
            lambda: self.model.spawn(host.id, slot, agent, invocation),
            lambda board: board.spawn_request(
                host.id, slot, parent=agent.parent, parent_kind=agent.kind, type=agent.type, key=agent.id,
                invocation=invocation,
            ),
        )  # fmt: skip

    def started(self, host: Host, agent: Agent) -> Answer:
        slot = self.slot()
        return self.twice(
            f"started {host.id} {agent}", host.machine,
            lambda: self.model.start_agent(host.id, slot, agent),
            lambda board: board.agent_started(
                host.id, slot, agent.id, parent=agent.parent, parent_kind=agent.kind, type=agent.type, unqueued=agent.unqueued
            ),
        )  # fmt: skip

    def agent_ended(self, host: Host, agent: str) -> Answer:
        return self.twice(
            f"ended {host.id} {agent}", host.machine,
            lambda: self.model.end_agent(host.id, agent),
            lambda board: board.agent_ended(host.id, agent),
        )  # fmt: skip

    def sync(self, host: Host, listed: list[Agent] | None = None) -> Answer:
        agents = self._listed(host, listed)
        return self._once_if_missing(host, agents)(
            f"sync {host.id}", host.machine,
            lambda: self.model.list_agents(host.id, agents),
            lambda board: board.agents_sync(host.id, _json(agents)),
        )  # fmt: skip

    # --- line and pause

    def leave_line(self, host: Host, pool: str = "") -> Answer:
        return self.both(
            f"line_leave {host.id} {pool}", host.machine,
            lambda: self.model.leave_line(host.id, pool),
            lambda board: board.line_leave(host.id, pool),
        )  # fmt: skip

    def pause(self, machine: str, label: str = "", reason: str = "") -> Answer:
        return self.twice(
            "pause", machine,
            lambda: self.model.pause_board("somebody", label, reason),
            lambda board: board.board_pause("somebody", label=label, reason=reason),
        )  # fmt: skip

    def resume(self, machine: str) -> Answer:
        return self.both("resume", machine, self.model.resume_board, lambda board: board.board_resume("somebody"))


def _json(agents: list[tuple[Agent, str]]) -> str:
    return json.dumps([agent.told(slot) for agent, slot in agents])
