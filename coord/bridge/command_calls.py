"""The request about an agent's bash command: answered at once, from the session's configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coord.bridge.rpc import BAD_PARAMS, RpcError
from coord.bridge.words import PREFIX
from coord.names import clean

if TYPE_CHECKING:
    from coord.bridge.bridge import Bridge
    from coord.bridge.commands import Commands
    from coord.bridge.queued import Caller
    from coord.bridge.session import Session
    from coord.config.settings import Settings


class CommandCalls:
    """`program`: the absolute path of omp-coord, "" when it is not known."""

    def __init__(self, bridge: Bridge, program: str) -> None:
        self._bridge, self._program = bridge, program
        self._settings: Settings | None = None
        self._commands: Commands | None = None
        self._said: set[tuple[str, ...]] = set()

    def prepare(self) -> None:
        """Compiles the rules of a configuration that is new here. Done when nobody waits: rules cost 40 ms."""
        session = self._bridge.session
        settings = session.contact.settings if session is not None else None
        if settings is self._settings:
            return
        self._settings, self._commands = settings, None
        self._said.clear()
        if settings is not None and settings.commands.rules:
            self._commands = _compiled(settings)

    def check(self, params: dict[str, Any]) -> dict[str, Any]:
        """Nothing is asked of the board, so a server that is away changes nothing; a session that is inactive for another
        reason has no rules."""
        if not params["agent"]:
            raise RpcError(BAD_PARAMS, "agent must not be empty")
        self.prepare()
        session = self._session()
        if params["tool"] != "bash" or session is None:
            return {"action": "run"}
        if self._commands is None:
            self._commands = _compiled(session.contact.settings)
        decision = self._commands.decide(params["command"], self._caller(session), params["agent"])
        if decision.reason is not None:
            return {"action": "refuse", "reason": PREFIX + clean(decision.reason)}
        if decision.notice is not None and self._first(decision.notice):
            self._bridge.told.notify("warning", decision.notice)
        result = {"action": "run"}
        if decision.command is not None:
            result["command"] = decision.command
        if decision.queue is not None and self._first(params["agent"], decision.queue):
            result["context"] = f"{PREFIX}this command waits for its turn in the queue {decision.queue}, then it runs."
        return result

    def _session(self) -> Session | None:
        """The session whose configuration is valid."""
        closed = self._bridge.closed
        return self._bridge.session if closed is None or closed.code == "noServer" else None

    def _caller(self, session: Session) -> Caller:
        from coord.bridge.queued import Caller

        return Caller(self._program, session.contact.settings.path or "", session.id)

    def _first(self, *words: str) -> bool:
        """Whether this was not said before."""
        new = words not in self._said
        self._said.add(words)
        return new


def _compiled(settings: Settings) -> Commands:
    from coord.bridge.commands import Commands  # 7 ms, which a session's start need not pay

    return Commands(settings)
