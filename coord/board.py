"""The board, typed: one method per script, the same words. A call is one EVALSHA (see `coord.caller`)."""

from __future__ import annotations

from coord.caller import Caller

TYPE_CHECKING = False
if TYPE_CHECKING:
    from coord.answers import Answer


class Board(Caller):
    """One scope's board over one connection."""

    __slots__ = ()

    def job_enqueue(
        self, job: str, queue: str, lane: str, *, owner: str, policy: str, policy_json: str, record: str,
        session: str = "", parent: str = "", wait: bool = True, limit_ms: int | None = None,
    ) -> Answer:  # fmt: skip
        """`Granted` (granted, nested), `Waiting`, `Busy` (busy, knot) or `Ended`."""
        return self.call(
            "job_enqueue", job=job, queue=queue, lane=lane, session=session, owner=owner, parent=parent,
            wait="1" if wait else "0", limit_ms="" if limit_ms is None else limit_ms, policy=policy,
            policy_json=policy_json, record=record,
        )  # fmt: skip

    def job_beat(
        self,
        job: str,
        instance: str,
        state: str,
        *,
        ahead: bool = False,
        policy: str = "",
        policy_json: str = "",
    ) -> Answer:
        """`Running`, `Waiting`, `Granted` (granted, nested), `Ended`, or the bare verdicts notYours, unknown."""
        return self.call(
            "job_beat", job=job, instance=instance, state=state, ahead="1" if ahead else "", policy=policy,
            policy_json=policy_json,
        )  # fmt: skip

    def job_start(self, job: str, instance: str, fence: str) -> Answer:
        """`Granted` (started), `Ended` (expired), notYours or unknown."""
        return self.call("job_start", job=job, instance=instance, fence=fence)

    def job_finish(
        self, job: str, instance: str, fence: str, outcome: str, *, code: int | None = None, signal: int | None = None,
        leftovers: str = "",
    ) -> Answer:  # fmt: skip
        """released, notYours, `Ended` (expired) or unknown."""
        return self.call(
            "job_finish", job=job, instance=instance, fence=fence, outcome=outcome, code="" if code is None else code,
            signal="" if signal is None else signal, leftovers=leftovers,
        )  # fmt: skip

    def job_cancel(self, job: str, *, instance: str = "", by: str = "", reason: str = "", kill: bool = False) -> Answer:
        """cancelled, killing, running, `Ended` or unknown."""
        return self.call("job_cancel", job=job, instance=instance, by=by, reason=reason, kill="1" if kill else "")

    def job_register(
        self, job: str, queue: str, lane: str, state: str, *, ticket: str, fence: str, policy: str, policy_json: str,
        record: str, inside: str = "",
    ) -> Answer:  # fmt: skip
        """`Running`, `Waiting`, `Granted`, `Ended` or notYours."""
        return self.call(
            "job_register", job=job, queue=queue, lane=lane, state=state, ticket=ticket, fence=fence, inside=inside,
            policy=policy, policy_json=policy_json, record=record,
        )  # fmt: skip

    def session_join(
        self,
        session: str,
        host_session: str,
        *,
        policy: str,
        policy_json: str,
        agents: str,
        record: str,
        label: str = "",
    ) -> Answer:
        """joined: `fields` session, label, alone, others, paused."""
        return self.call(
            "session_join", session=session, host_session=host_session, label=label, policy=policy,
            policy_json=policy_json, agents=agents, record=record,
        )  # fmt: skip

    def session_beat(
        self, session: str, instance: str, agents: str, *, policy: str = "", policy_json: str = ""
    ) -> Answer:
        """alive, `Ended`, notYours or unknown."""
        return self.call(
            "session_beat", session=session, instance=instance, agents=agents, policy=policy, policy_json=policy_json
        )

    def session_leave(self, session: str, instance: str, reason: str) -> Answer:
        """left, `Ended`, notYours or unknown."""
        return self.call("session_leave", session=session, instance=instance, reason=reason)

    def spawn_request(
        self,
        session: str,
        slot: str,
        *,
        parent: str,
        parent_kind: str,
        type: str,
        key: str = "",
        invocation: str = "task",
    ) -> Answer:
        """approved, refused or unknown."""
        return self.call(
            "spawn_request", session=session, slot=slot, parent=parent, parent_kind=parent_kind, type=type, key=key,
            invocation=invocation,
        )  # fmt: skip

    def agent_started(
        self,
        session: str,
        slot: str,
        agent: str,
        *,
        parent: str,
        parent_kind: str,
        type: str,
        unqueued: str = "revived",
    ) -> Answer:
        """started or unknown."""
        return self.call(
            "agent_started", session=session, slot=slot, agent=agent, parent=parent, parent_kind=parent_kind, type=type,
            unqueued=unqueued,
        )  # fmt: skip

    def agent_ended(self, session: str, agent: str) -> Answer:
        """ending or unknown."""
        return self.call("agent_ended", session=session, agent=agent)

    def agents_sync(self, session: str, agents: str) -> Answer:
        """synced or unknown."""
        return self.call("agents_sync", session=session, agents=agents)

    def line_leave(self, session: str, pool: str = "") -> Answer:
        """left or unknown."""
        return self.call("line_leave", session=session, pool=pool)

    def board_pause(self, by: str, *, label: str = "", reason: str = "") -> Answer:
        """paused."""
        return self.call("board_pause", by=by, label=label, reason=reason)

    def board_resume(self, by: str, *, label: str = "") -> Answer:
        """resumed."""
        return self.call("board_resume", by=by, label=label)

    def withdraw(self, job: str, instance: str) -> None:
        """Takes a job off the board whatever it is there: for one that missed an answer and does not want the slot."""
        if self.insist("job_cancel", job=job, instance=instance, by="", reason="", kill="").verdict == "running":
            fence = self.job_beat(job, instance, "waiting").fields.get("fence")
            if fence:
                self.job_finish(job, instance, fence, "failed")

    def board_sweep(self) -> Answer:
        """swept; `fields["changed"]` is "1" when that changed the board."""
        return self.call("board_sweep")

    def board_read(self) -> Answer:
        """board or empty; see `coord.status` for the typed picture."""
        return self.call("board_read")
