"""Who answers the host: each request has its method; what is true of the session now decides what it says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coord import __version__
from coord.bridge import tools, words
from coord.bridge.agent_calls import AgentCalls
from coord.bridge.apart import Errands
from coord.bridge.command_calls import CommandCalls
from coord.bridge.inactive import Closed, Opening
from coord.bridge.log import Log
from coord.bridge.notices import Told, joining
from coord.bridge.protocol import PROTOCOL, REQUESTS
from coord.bridge.rpc import (
    BAD_PARAMS,
    INTERNAL,
    NOT_OPEN,
    UNKNOWN_METHOD,
    Output,
    Request,
    RpcError,
    Unanswerable,
    parse,
)
from coord.bridge.shapes import Misfit, shape
from coord.bridge.user_calls import UserCalls
from coord.bridge.watching import Watching
from coord.home import Home
from coord.names import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from coord.bridge.session import Session
    from coord.bridge.tools import Show


class Bridge:
    """`opening` is what the host said at `session.open`, None before it and after `session.close`. `closed` says why the
    session is not on the board, None when it is. `session` is None when there is nothing to wait for either; it is there
    with `closed` while only the server is missing."""

    def __init__(self, out: Output, env: Mapping[str, str], show: Show, wake: Callable[[], None], program: str) -> None:
        self.out, self.env, self.show = out, env, show
        self.home = Home.find(env)
        self.log = Log(self.home)
        self.errands = Errands(wake)
        self.told = Told(out, set())
        self.opening: Opening | None = None
        self.closed: Closed | None = None
        self.session: Session | None = None
        self._agents, user = AgentCalls(self), UserCalls(self)
        self._commands = CommandCalls(self, program)
        self._watching = Watching(self)
        self._answered: dict[str, Callable[[dict[str, Any]], Any]] = {
            "agent.started": self._agents.started,
            "agent.ended": self._agents.ended,
            "agents.sync": self._agents.sync,
            "command.check": self._commands.check,
            "slash.complete": user.slash_complete,
            "spawnQueue.unsized": self._unsized,
            "message.ack": lambda params: self.told.acknowledged(params["ids"]),
            "session.close": lambda params: self.leave(params["reason"]),
        }
        self._answering: dict[str, Callable[[Request, dict[str, Any]], None]] = {
            "session.open": self._session_open,
            "spawn.request": self._agents.spawn_request,
            "tool.call": user.tool_call,
            "slash.run": user.slash_run,
        }
        assert self._answered.keys() | self._answering.keys() == REQUESTS.keys()

    # -- requests

    def take(self, line: bytes | None) -> None:
        """Carries out one line. Whatever is wrong with it, the bridge goes on."""
        try:
            request = parse(line)
        except RpcError as error:
            self.out.error(error.id if isinstance(error, Unanswerable) else None, error.code, str(error))
            return
        try:
            self._carry_out(request)
        except RpcError as error:
            self._error(request, error.code, str(error))
        except Exception as error:
            self._fault(request.method, error)
            self._error(request, INTERNAL, f"a fault in omp-coord ({type(error).__name__}); its log says more")

    def _carry_out(self, request: Request) -> None:
        if request.method not in REQUESTS:
            raise RpcError(UNKNOWN_METHOD, f"unknown method {clean(request.method[:80])}")
        if self.opening is None and request.method != "session.open":
            raise RpcError(NOT_OPEN, "session.open comes first")
        try:
            params = shape(REQUESTS[request.method][0])({} if request.params is None else request.params)
        except Misfit as misfit:
            raise RpcError(BAD_PARAMS, str(misfit)) from None
        if request.method in self._answering:
            self._answering[request.method](request, params)
        else:
            self.answer(request, self._answered[request.method](params))

    def answer(self, request: Request, result: Any) -> None:
        if request.asked:
            self.out.answer(request.id, result)

    def _error(self, request: Request, code: int, text: str) -> None:
        if request.asked:
            self.out.error(request.id, code, text)

    def _fault(self, where: str, error: Exception) -> None:
        import traceback

        self.log.say(f"{clean(where[:40])}: {''.join(traceback.format_exception(error))}")

    # -- opening and closing

    def _session_open(self, request: Request, params: dict[str, Any]) -> None:
        if params["pid"] < 1:
            raise RpcError(BAD_PARAMS, "pid must be the number of a process")
        if "\0" in params["cwd"]:
            raise RpcError(BAD_PARAMS, "cwd must be the path of a folder")
        opening = Opening(params, self.env, self.home)
        before, told = self.told, Told(self.out, opening.shown)
        same = self.opening is not None and self.opening.same_host_session(opening)
        old = self.session if same else None
        self.leave("new", taken_over=same)
        self.opening, self.told = opening, told
        goes_on = same
        try:
            joined = self.join()
        finally:
            if old is not None:
                goes_on = self._give_over(old)
        self.answer(request, joined)
        if goes_on:
            told.again(before)

    def _give_over(self, old: Session) -> bool:
        """Ends this bridge's former session; true when the one that was opened instead has all it had, or will have it as
        soon as its board is reached. (It has not in another folder, or when the file was removed.)"""
        new, away = self.session, self.closed is not None and self.closed.code == "noServer"
        scope = new.contact.settings.scope if new is not None else None
        if new is not None and (new.id == old.id or (away and scope == old.contact.settings.scope)):
            old.contact.close()
            return True
        old.leave("new")
        return False

    def join(self) -> dict[str, Any]:
        """Puts the session on the board, or says why it is not there: the answer to `session.open`."""
        assert self.opening is not None
        try:
            self.session, self.closed = self.opening.join(), None
        except Closed as closed:
            self.session, self.closed = closed.session, closed
            self.log.say(f"not on the board ({closed.code}): {closed}")
            return self._inactive(closed)
        return self.opened(self.session)

    def opened(self, session: Session) -> dict[str, Any]:
        """What the host is told of a session that is on the board now."""
        assert self.opening is not None
        self.closed = None
        scope = session.contact.settings.scope
        self.log.say(f"session {session.id} joined as {session.label} in {scope}")
        queue = self.told.opened(session)
        other = words.other_version(self.opening.plugin, __version__)
        warnings = [text for text in (self.home.notice, other, *self.opening.warnings) if text]
        return {
            "protocol": PROTOCOL,
            "active": True,
            "session": session.id,
            "label": session.label,
            "scope": scope,
            "footer": self.told.footer(session),
            "notices": joining(session, warnings, queue["note"]),
            "env": {"OMP_COORD_SESSION": session.id},
            "tools": tools.TOOLS,
            "commands": tools.COMMANDS,
            "spawnQueue": queue,
        }

    def _inactive(self, closed: Closed) -> dict[str, Any]:
        return {
            "protocol": PROTOCOL,
            "active": False,
            "code": closed.code,
            "reason": str(closed),
            "tools": tools.TOOLS[:1],
            "commands": tools.COMMANDS,
        }

    def _unsized(self, params: dict[str, Any]) -> None:
        wanted = self.session is not None and self.session.contact.settings.agents.queue_spawns
        self.told.cannot_size(params["reason"], wanted=wanted)

    def leave(self, reason: str, *, taken_over: bool = False) -> None:
        """Ends the session, if there is one. `taken_over`: the same host session opens again and may go on with it."""
        self._agents.let_through()
        if self.session is not None and not taken_over:
            self.session.leave(reason)
            self.log.say(f"session {self.session.id} left: {reason}")
        self.session = self.opening = self.closed = None

    # -- being driven

    def tick(self) -> float:
        """Does what is due, tells what is new; says in how many seconds to call again."""
        try:
            return self._tick()
        except Exception as error:
            self._fault("tick", error)
            return 1.0

    def _tick(self) -> float:
        self.errands.home()
        self._agents.ask_due()
        self._commands.prepare()
        due = self._drive(self.session) if self.session is not None else 60.0
        return min(due, self._watching.tick(), self._agents.due_in())

    def _drive(self, session: Session) -> float:
        due = session.pump()
        if session.state == "over":
            self._taken_over()
        elif self.closed is None:
            if session.state == "apart" and session.contact.retry_in > 0:
                self.told.outage()  # a look for the board has failed
            self.told.news(session, quiet=bool(self._agents.waiting))
        elif session.state == "joined":
            self.join_late(self.opened(session))
        else:
            self.told.offline()
        return due

    def join_late(self, opened: dict[str, Any]) -> None:
        """Tells the host that its session is on the board, which it was not at `session.open`."""
        self.out.notify("joined", opened)
        self.told.notify("info", f"omp-coord is active now: this is session {opened['label']} of {opened['scope']}")

    def _taken_over(self) -> None:
        self.session, self.closed = None, Closed("off", "another bridge of the same host has taken this session over")
        self.told.notify("warning", str(self.closed))
