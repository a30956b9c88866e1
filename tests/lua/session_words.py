"""Words for sessions and their agents, to play on a board: the half of `World` that issue calls of sessions."""

from __future__ import annotations

import json
from hashlib import sha1
from typing import Any

from coord.answers import Answer

ONE = {"slots": 1}


class SessionWords:
    """Sessions, agents and slots are called by ids of the test's choice. A session's process is (its pid here, start "1",
    instance = its id)."""

    policies: dict[str, str]

    def call(self, name: str, on: str = "m1", *, load: str = "0.00", single: str = "1", **values: Any) -> Answer:
        raise NotImplementedError

    def pid(self, job: str) -> int:
        raise NotImplementedError

    def step(self, ms: int) -> None:
        raise NotImplementedError

    def sweep(self, on: str = "m1", **options: Any) -> Answer:
        raise NotImplementedError

    def join(
        self, session: str, *, host: str | None = None, pid: int | None = None, instance: str | None = None, label: str = "",
        policy: str = "w", agents: str = "", line: dict[str, str] | None = None, cwd: str = "/x", on: str = "m1",
        load: str = "0.00",
    ) -> Answer:  # fmt: skip
        number = pid or self.pid(session)
        process = {"pid": number, "start": "1", "instance": instance or session}
        record = {
            "cwd": cwd,
            "process": process,
            "bridge": {"pid": number + 5000, "start": "1"},
            "version": "1",
        }
        return self.call(
            "session_join", on, load=load, session=session, host_session=host or f"host of {session}", label=label,
            policy=policy, policy_json=self.policies[policy], agents=agents_of(session, agents),
            record=json.dumps({**record, "line": line} if line else record),
        )  # fmt: skip

    def live(self, session: str, *, agents: str = "", policy: str = "", on: str = "m1", **options: Any) -> Answer:
        """A session's beat. agents: the ids of those that really run, in order."""
        return self.call(
            "session_beat", on, session=session, instance=options.pop("instance", session),
            agents=sha1("\n".join(sorted(agents.split())).encode()).hexdigest(), policy=policy,
            policy_json=self.policies.get(policy, ""), **options,
        )  # fmt: skip

    def leave(self, session: str, reason: str = "exit", *, instance: str | None = None) -> Answer:
        return self.call("session_leave", session=session, instance=instance or session, reason=reason)

    def spawn(
        self, session: str, slot: str, *, type: str = "task", parent: str = "Main", key: str = "", invocation: str = "task",
        **options: Any,
    ) -> Answer:  # fmt: skip
        """A parent other than Main is a subagent."""
        return self.call(
            "spawn_request", session=session, slot=slot, parent=parent, parent_kind=kind_of(parent), type=type, key=key,
            invocation=invocation, **options,
        )  # fmt: skip

    def started(
        self, session: str, agent: str, slot: str = "", *, type: str = "task", parent: str = "Main",
        unqueued: str = "revived", **options: Any,
    ) -> Answer:  # fmt: skip
        """slot: of a place for one without approval; `new <agent>` unless the test says another."""
        return self.call(
            "agent_started", session=session, slot=slot or f"new {agent}", agent=agent, parent=parent,
            parent_kind=kind_of(parent), type=type, unqueued=unqueued, **options,
        )  # fmt: skip

    def stopped(self, session: str, agent: str, **options: Any) -> Answer:
        """A run ended."""
        return self.call("agent_ended", session=session, agent=agent, **options)

    def sync(self, session: str, agents: str = "", **options: Any) -> Answer:
        return self.call("agents_sync", session=session, agents=agents_of(session, agents), **options)

    def quit_line(self, session: str, pool: str = "") -> Answer:
        return self.call("line_leave", session=session, pool=pool)

    def pause(self, by: str = "ann", *, label: str = "", reason: str = "") -> Answer:
        return self.call("board_pause", by=by, label=label, reason=reason)

    def resume(self, by: str = "ann", *, label: str = "") -> Answer:
        return self.call("board_resume", by=by, label=label)

    def pools(
        self, name: str, *, default: str | None = None, exempt: tuple[str, ...] = (), nested: tuple[str, ...] = (),
        most: int = 1, hold_ms: int = 0, start_ms: int = 0, lease_ms: int = 0, fallback: bool = False, **pools: Any,
    ) -> None:  # fmt: skip
        """Says what the policy `name` holds of agents: pools by name, a cap or {cap, types, loadCaps}; without `default`
        the first is the default pool. Its queues are those of the policy p."""
        full = {pool: rule if isinstance(rule, dict) else {"cap": rule} for pool, rule in pools.items()}
        agents: dict[str, Any] = {
            "pools": [{"name": pool, **{k: v for k, v in rule.items() if k == "types"}} for pool, rule in full.items()],
            "defaultPool": default or next(iter(full), None), "exempt": exempt,
            "nested": {"types": nested, "maxRunningPerParent": most}, "holdMs": hold_ms, "startTimeoutMs": start_ms,
        }  # fmt: skip
        said = {
            "source": f"{name}.json", "queues": {"q": ONE, "r": ONE}, "leaseMs": lease_ms, "fallback": fallback,
            "pools": {pool: {k: v for k, v in rule.items() if k != "types"} for pool, rule in full.items()},
            "agents": {key: value for key, value in agents.items() if value},
        }  # fmt: skip
        self.policies[name] = json.dumps({key: value for key, value in said.items() if value})

    def lived(self, seconds: int, *sessions: str, on: str = "m1") -> None:
        """Time in which these sessions beat every two seconds, as living ones do."""
        for _ in range(seconds // 2):
            self.step(2000)
            for session in sessions:
                self.live(session, on=on)

    def runs(self, session: str, *agents: str, **options: Any) -> None:
        """Agents that were approved and run; the slot of X is called s-X in session s."""
        for agent in agents:
            assert self.spawn(session, f"{session}-{agent}", key=agent, **options).verdict == "approved"
            options_of_start = {k: v for k, v in options.items() if k != "invocation"}
            self.started(session, agent, **options_of_start)

    def ends(self, session: str, *agents: str) -> None:
        """Agents whose runs end, all at the same moment; half a second later their slots are free."""
        for agent in agents:
            self.stopped(session, agent)
        self.step(500)
        self.sweep()


def kind_of(parent: str) -> str:
    return "main" if parent == "Main" else "sub"


def agents_of(session: str, text: str) -> str:
    """Agents as the bridge lists them: `X` is of type task, `X:scout` of another, `X:scout:P` was started by P."""
    agents = []
    for word in text.split():
        id_, type_, parent = (*word.split(":"), "", "")[:3]
        parent = parent or "Main"
        agents.append(
            {
                "id": id_,
                "type": type_ or "task",
                "parent": {"id": parent, "kind": kind_of(parent)},
                "slot": f"new {id_}",
            }
        )
    return json.dumps(agents)
