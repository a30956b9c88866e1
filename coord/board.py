"""The board, typed: one method per script, the same words.

A call is one EVALSHA. Whatever the board decides is decided in `lua/`; this class only says who is asking, carries
along what the caller saw of its machine's processes, and turns faults into `Unavailable` or `BoardFault`.
"""

from __future__ import annotations

import os

from coord import scripts
from coord.answers import Answer, answer_of
from coord.errors import BoardFault, NewerBoard, Unavailable
from coord.keys import Keys
from coord.machine import machine_id
from coord.wire.link import ServerError, printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from coord.wire.cluster import ClientLink
    from coord.wire.link import Link

_AWAY = frozenset(
    [
        "LOADING",
        "BUSY",
        "MASTERDOWN",
        "CLUSTERDOWN",
        "MOVED",
        "ASK",
        "READONLY",
        "TRYAGAIN",
        "NOAUTH",
        "WRONGPASS",
        "NOPERM",
        "OOM",
        "MISCONF",
        "NOREPLICAS",
        "UNKILLABLE",
    ]
)
"""Error replies that mean "not now", "not here" or "not you", not a fault of a script."""

_NOT_ALLOWED = ("executing the script can't", "ACL failure in script", "unknown command")
"""What stands in the error when a command inside a script, or EVALSHA itself, is not for this user or server."""

_loaded: dict[str, scripts.Script] = {}


class Board:
    """One scope's board over one connection.

    `fresh`: nothing of this scope can be running, so a new board need not settle.
    `loaded` holds scripts by name, filled as they are needed; tests pass their own, with a clock that they set.
    """

    __slots__ = ("_common", "_heard", "_posted", "_scripts", "keys", "link", "scope", "vouched")

    def __init__(
        self,
        link: Link | ClientLink,
        scope: str,
        *,
        machine: str | None = None,
        fresh: bool = False,
        loaded: dict[str, scripts.Script] | None = None,
    ) -> None:
        self.link = link
        self._scripts = _loaded if loaded is None else loaded
        self.scope = scope
        self.keys = Keys(scope)
        self._heard: set[str] = set()
        self._posted: tuple[scripts.Script, list[object]] | None = None
        self.vouched: list[dict[str, Any]] = []
        self._common: dict[str, object] = {
            "machine": machine or machine_id(),
            "epoch": os.urandom(16).hex(),
            "fresh": "1" if fresh else "",
            "single": "1" if link.address.plain else "",
            "channel": self.keys.channel,
            "user": os.getuid(),
            "load": f"{os.getloadavg()[0]:.2f}",
            "vouch": "",
        }

    @property
    def machine(self) -> str:
        return str(self._common["machine"])

    def weigh(self) -> None:
        """Takes this machine's load anew; a connection may last for days."""
        self._common["load"] = f"{os.getloadavg()[0]:.2f}"

    def known(self) -> None:
        """From now on a board that is missing here has been lost, so the next one settles."""
        self._common["fresh"] = ""

    def words(self, name: str, values: dict[str, object]) -> tuple[scripts.Script, list[object]]:
        """The script `name` and the words behind its SHA, with what is vouched for; that is sent once."""
        script = self._scripts.get(name)
        if script is None:
            script = self._scripts[name] = scripts.load(name)
        values.update(self._common)
        if self.vouched:
            import json

            values["vouch"] = json.dumps(self.vouched)
            self.vouched = []
        return script, script.bind(self.keys, values)

    def call(self, name: str, **values: object) -> Answer:
        """Runs a script and returns its verdict. Raises `Unavailable` or `BoardFault`."""
        script, words = self.words(name, values)
        self._posted = None
        return self._call(script, words, "EVALSHA", script.sha)

    def _call(self, script: scripts.Script, words: list[object], command: str, what: str) -> Answer:
        try:
            return self.understood(self.link.call(command, what, *words))
        except ServerError as error:
            if error.code == "NOSCRIPT":
                return self._call(script, words, "EVAL", script.text)
            raise fault(script.name, error) from None

    def enter(self, channels: tuple[str, ...], name: str, **values: object) -> Answer:
        """Subscribes and runs a script in one write, so that no message can fall between the two."""
        if self._heard.issuperset(channels):
            return self.call(name, **values)
        self._heard.update(channels)
        script, words = self.words(name, values)
        self.link.send(("SUBSCRIBE", *channels), ("EVALSHA", script.sha, *words))
        try:
            reply = self.link.answer()
        except ServerError as error:
            if error.code != "NOSCRIPT":
                raise fault(name, error) from None
            return self._call(script, words, "EVAL", script.text)
        return self.understood(reply)

    def post(self, name: str, **values: object) -> None:
        """Sends a script's call without waiting; `poll` brings its answer. One at a time."""
        script, words = self.words(name, values)
        self._posted = (script, words)
        self.link.post("EVALSHA", script.sha, *words)

    @property
    def waits(self) -> bool:
        """Whether a posted call is still unanswered."""
        return self._posted is not None

    def poll(self) -> Answer | None:
        """The answer to the posted call if it is here. Messages gather in `link.pushes`."""
        answer = None
        for reply in self.link.poll():
            if self._posted is None:
                continue
            script, words = self._posted
            self._posted = None
            if isinstance(reply, ServerError) and reply.code == "NOSCRIPT":
                self._posted = (script, words)
                self.link.post("EVAL", script.text, *words)
            elif isinstance(reply, ServerError):
                raise fault(script.name, reply)
            else:
                answer = self.understood(reply)
        return answer

    def understood(self, reply: Any) -> Answer:
        """The typed answer; a board of a newer omp-coord is `Unavailable`."""
        answer = answer_of(reply)
        if answer.epoch == self._common["epoch"]:
            self._common["epoch"] = os.urandom(16).hex()  # it made this board; the next one it makes is another
        if answer.verdict == "newerSchema":
            raise NewerBoard(
                f"the board of scope {self.scope} was made by a newer omp-coord (schema {answer.fields['schema']}); "
                "update this one"
            )
        return answer

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
        if self.job_cancel(job, instance=instance).verdict == "running":
            fence = self.job_beat(job, instance, "waiting").fields.get("fence")
            if fence:
                self.job_finish(job, instance, fence, "failed")

    def board_sweep(self) -> Answer:
        """swept; `fields["changed"]` is "1" when that changed the board."""
        return self.call("board_sweep")

    def board_read(self) -> Answer:
        """board or empty; see `coord.status` for the typed picture."""
        return self.call("board_read")


def fault(name: str, error: ServerError) -> Exception:
    """The exception for an error reply to a script."""
    text = printable(error)
    code = text.rpartition(": -")[2].split(" ", 1)[0]  # Redis 6.2 wraps what a command inside a script was told
    if code in _AWAY or any(words in text for words in _NOT_ALLOWED):
        return Unavailable(f"the server refuses: {text}")
    return BoardFault(f"{name}.lua: {text}")
