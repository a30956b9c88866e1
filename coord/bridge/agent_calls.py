"""The requests about agents, applied in the order in which they came."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from coord.bridge import words
from coord.bridge.spawns import Spawn, uncoordinated

if TYPE_CHECKING:
    from coord.bridge.agents import Mirror
    from coord.bridge.bridge import Bridge
    from coord.bridge.rpc import Request
    from coord.bridge.session import Session


class AgentCalls:
    """`waiting`: spawns whose answer is held back while the board settles, in the order in which they came."""

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge
        self.waiting: list[tuple[Request, Spawn]] = []

    # -- spawns

    def spawn_request(self, request: Request, params: dict[str, Any]) -> None:
        spawn = Spawn(params["parent"], params["type"], params.get("key") or "", params.get("invocation") or "")
        self.ask_due()
        if self.waiting:
            spawn.due = self.waiting[0][1].due  # those that came before come first
        self.waiting.append((request, spawn))
        self.ask_due()

    def ask_due(self) -> None:
        """Asks for those that are due; while the board settles the first one keeps the others waiting."""
        while self.waiting and self.waiting[0][1].due <= time.monotonic():
            request, spawn = self.waiting[0]
            session = self._bridge.session
            if session is None:
                spawn.result = uncoordinated()
            else:
                spawn.ask(session)
            if spawn.result is None:
                return
            self.waiting.pop(0)
            self._answer(request, spawn, spawn.result)

    def let_through(self) -> None:
        """Answers all that wait: their session ends."""
        for request, _ in self.waiting:
            self._bridge.answer(request, uncoordinated())
        self.waiting.clear()

    def due_in(self) -> float:
        """Seconds until `ask_due` has something to do."""
        return max(0.0, self.waiting[0][1].due - time.monotonic()) if self.waiting else 60.0

    def _answer(self, request: Request, spawn: Spawn, result: dict[str, Any]) -> None:
        bridge, session = self._bridge, self._bridge.session
        if session is not None and bridge.closed is None:
            result["allowance"] = bridge.told.answered(session)
            if not result["coordinated"]:
                bridge.told.outage()
        bridge.answer(request, result)
        if spawn.refusal is not None and session is not None:
            text = words.refusal_notice(spawn.refusal, spawn.parent["id"], session.picture.paused)
            bridge.told.notify("warning", text)

    # -- what runs

    def started(self, params: dict[str, Any]) -> dict[str, Any]:
        warning = None
        if self._is_ours(params["session"]):
            entry = self._mirror.started(params)
            if self._bridge.session is not None:
                warning = self._say_started(self._bridge.session, entry)
        result: dict[str, Any] = {"allowance": self._allowance()}
        return {"warning": warning, **result} if warning else result

    def _say_started(self, session: Session, entry: dict[str, Any]) -> str | None:
        """The warning when this start took the pool over its cap."""
        parent = entry["parent"]
        answer = session.ask(
            "agent_started", slot=entry["slot"], agent=entry["id"], parent=parent["id"], parent_kind=parent["kind"],
            type=entry["type"], unqueued=entry["unqueued"],
        )  # fmt: skip
        if answer is not None and not answer.fields["unqueued"]:
            self._mirror.approved(entry["id"])
        if answer is None or answer.fields["overBy"] == "0":
            return None
        return words.over_cap([(entry["type"], entry["id"])], answer.fields["pool"], answer.fields["overBy"])

    def ended(self, params: dict[str, Any]) -> dict[str, Any]:
        if self._is_ours(params["session"]):
            self._mirror.ended(params["id"])
            if self._bridge.session is not None:
                self._bridge.session.ask("agent_ended", agent=params["id"])
        return {"allowance": self._allowance()}

    def sync(self, params: dict[str, Any]) -> dict[str, Any]:
        listed = self._mirror.listed(params["agents"])
        if self._bridge.session is not None:
            began = self._bridge.session.sync(listed)
            for one in began:
                if not one["unqueued"]:
                    self._mirror.approved(one["id"])
            self._warn_of({agent["id"]: agent["type"].lower() for agent in params["agents"]}, began)
        return {"allowance": self._allowance()}

    def _warn_of(self, types: dict[str, str], began: list[dict[str, Any]]) -> None:
        """One warning for each pool that agents whom nobody announced took over its cap."""
        over: dict[str, list[dict[str, Any]]] = {}
        for one in began:
            if one["overBy"]:
                over.setdefault(one["pool"], []).append(one)
        for pool, ones in over.items():
            agents = [(types[one["id"]], one["id"]) for one in ones]
            self._bridge.told.notify("warning", words.over_cap(agents, pool, ones[-1]["overBy"]))

    @property
    def _mirror(self) -> Mirror:
        assert self._bridge.opening is not None
        return self._bridge.opening.agents

    def _is_ours(self, session: str) -> bool:
        """Ends of agents of an earlier session still arrive, and change nothing on this one."""
        bridge = self._bridge
        assert bridge.opening is not None
        return session in (bridge.session.id if bridge.session else "", bridge.opening.host_session)

    def _allowance(self) -> int | None:
        bridge = self._bridge
        if bridge.session is None or bridge.closed is not None:
            return None
        return bridge.told.answered(bridge.session)
