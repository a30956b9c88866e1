"""Who answers the host: each request's method, in the order in which they came."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

from coord.bridge import tools, words
from coord.bridge.apart import Errands, FileMark, load_lean
from coord.bridge.inactive import LOOK_S, Closed, Opening
from coord.bridge.log import Log
from coord.bridge.notices import Told, joining
from coord.bridge.protocol import PROTOCOL, REQUESTS
from coord.bridge.rpc import BAD_PARAMS, INTERNAL, NOT_OPEN, UNKNOWN_METHOD, Output, Request, RpcError, Unanswerable, parse
from coord.bridge.shapes import Misfit, shape
from coord.bridge.spawns import Spawn, uncoordinated
from coord.errors import ConfigError
from coord.home import Home
from coord.names import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from coord.bridge.session import Session
    from coord.bridge.tools import Show


class Bridge:
    """`session` is None before `session.open`, after `session.close`, and while there is none on the board."""

    def __init__(self, out: Output, env: Mapping[str, str], show: Show, wake: Callable[[], None]) -> None:
        self.out, self.env, self.show = out, env, show
        self.home = Home.find(env)
        self.log = Log(self.home)
        self.errands = Errands(wake)
        self.session: Session | None = None
        self._opening: Opening | None = None
        self._closed: Closed | None = None
        self._told = Told(out, set())
        self._spawns: list[tuple[Request, Spawn]] = []
        self._file_at = 0.0
        self._loads = False
        self._methods: dict[str, Callable[[dict[str, Any]], Any]] = {
            "agent.started": self._agent_started,
            "agent.ended": self._agent_ended,
            "agents.sync": self._agents_sync,
            "slash.complete": self._slash_complete,
            "message.ack": self._message_ack,
            "session.close": self._session_close,
        }
        self._answering: dict[str, Callable[[Request, dict[str, Any]], None]] = {
            "session.open": self._session_open,
            "spawn.request": self._spawn_request,
            "tool.call": self._tool_call,
            "slash.run": self._slash_run,
        }

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
            import traceback

            self.log.say(f"{request.method[:40]}: {traceback.format_exc()}")
            self._error(request, INTERNAL, f"a fault in omp-coord ({type(error).__name__}); its log says more")

    def _carry_out(self, request: Request) -> None:
        if request.method not in REQUESTS:
            raise RpcError(UNKNOWN_METHOD, f"unknown method {clean(request.method[:80])}")
        try:
            params = shape(REQUESTS[request.method][0])({} if request.params is None else request.params, "")
        except Misfit as misfit:
            raise RpcError(BAD_PARAMS, str(misfit)) from None
        if self._opening is None and request.method != "session.open":
            raise RpcError(NOT_OPEN, "session.open comes first")
        if request.method in self._answering:
            self._answering[request.method](request, params)
        else:
            self._answer(request, self._methods[request.method](params))

    def _answer(self, request: Request, result: Any) -> None:
        if request.asked:
            self.out.answer(request.id, result)

    def _error(self, request: Request, code: int, text: str) -> None:
        if request.asked:
            self.out.error(request.id, code, text)

    # -- opening and closing

    def _session_open(self, request: Request, params: dict[str, Any]) -> None:
        if params["pid"] < 1:
            raise RpcError(BAD_PARAMS, "pid must be the number of a process")
        opening = Opening(params, self.env, self.home)
        told = Told(self.out, opening.shown)
        same = self._opening is not None and self._opening.same_host_session(opening)
        before = self._told
        self._end("new", leave=not same)
        self._opening, self._told = opening, told
        try:
            self._active(opening.join())
        except Closed as closed:
            self._not_active(closed)
            self._answer(request, self._inactive(closed))
        else:
            self._answer(request, self._opened())
        if same:
            told.again(before)

    def _active(self, session: Session) -> None:
        self.session, self._closed = session, None
        self.log.say(f"session {session.id} joined as {session.label} in {session.contact.settings.scope}")

    def _not_active(self, closed: Closed) -> None:
        self.session, self._closed = closed.session, closed
        self.log.say(f"not on the board ({closed.code}): {closed}")

    def _opened(self) -> dict[str, Any]:
        session, opening = self.session, self._opening
        assert session is not None
        assert opening is not None
        queue = self._told.opened(session)
        warnings = [text for text in (self.home.notice, *opening.warnings) if text]
        return {
            "protocol": PROTOCOL,
            "active": True,
            "session": session.id,
            "label": session.label,
            "scope": session.contact.settings.scope,
            "footer": self._told.footer(session),
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

    def _session_close(self, params: dict[str, Any]) -> None:
        self._end(params["reason"])

    def _end(self, reason: str, *, leave: bool = True) -> None:
        """The end of the session, if there is one; spawns that still wait for an answer are let through."""
        for request, _ in self._spawns:
            self._answer(request, uncoordinated())
        self._spawns.clear()
        if self.session is not None:
            if leave:
                self.session.leave(reason)
                self.log.say(f"session {self.session.id} left: {reason}")
            else:
                self.session.contact.close()
        self.session = self._opening = self._closed = None

    def leave(self, reason: str) -> None:
        """The bridge ends."""
        self._end(reason)

    # -- agents

    def _spawn_request(self, request: Request, params: dict[str, Any]) -> None:
        spawn = Spawn(params["parent"], params["type"], params.get("key") or "", params.get("invocation") or "")
        self._ask_spawns()  # those that came before come first
        self._spawns.append((request, spawn))
        if len(self._spawns) > 1 and self._spawns[0][1].due > time.monotonic():
            spawn.due = self._spawns[0][1].due
        else:
            self._ask_spawns()

    def _ask_spawns(self) -> None:
        """Asks for those that are due, in the order in which they came; while the board settles it keeps them."""
        while self._spawns and self._spawns[0][1].due <= time.monotonic():
            request, spawn = self._spawns[0]
            if self.session is None:
                spawn.result = uncoordinated()
            else:
                spawn.ask(self.session)
            if spawn.result is None:
                return
            self._spawns.pop(0)
            self._spawn_answer(request, spawn, spawn.result)

    def _spawn_answer(self, request: Request, spawn: Spawn, result: dict[str, Any]) -> None:
        session = self.session
        if session is not None and self._closed is None:
            result["allowance"] = self._told.answered(session)
            if not result["coordinated"] and session.state == "apart":
                self._told.outage(session)
        self._answer(request, result)
        if spawn.refusal is not None and session is not None:
            text = words.refusal_notice(spawn.refusal, spawn.parent["id"], session.picture.paused)
            self._told.notify("warning", text)

    def _agent_started(self, params: dict[str, Any]) -> dict[str, Any]:
        warning = None
        if self._is_ours(params["session"]):
            entry = self._mirror.started(params)
            if self.session is not None:
                warning = self._say_started(self.session, entry)
        result: dict[str, Any] = {"allowance": self._allowance()}
        return {"warning": warning, **result} if warning else result

    def _say_started(self, session: Session, entry: dict[str, Any]) -> str | None:
        parent = entry["parent"]
        answer = session.ask(
            "agent_started", slot=entry["slot"], agent=entry["id"], parent=parent["id"], parent_kind=parent["kind"],
            type=entry["type"], unqueued=entry["unqueued"],
        )  # fmt: skip
        over = int(answer.fields.get("overBy") or 0) if answer else 0
        if not over or answer is None:
            return None
        what = f"{clean(entry['type'])[:60]} {clean(entry['id'])[:60]} started without asking"
        return f"{what}: the pool {clean(answer.fields['pool'])} is over its cap by {over}"

    def _agent_ended(self, params: dict[str, Any]) -> dict[str, Any]:
        if self._is_ours(params["session"]):
            self._mirror.ended(params["id"])
            if self.session is not None:
                self.session.ask("agent_ended", agent=params["id"])
        return {"allowance": self._allowance()}

    def _agents_sync(self, params: dict[str, Any]) -> dict[str, Any]:
        listed = self._mirror.listed(params["agents"])
        if self.session is not None:
            self.session.sync(listed)
        return {"allowance": self._allowance()}

    @property
    def _mirror(self) -> Any:
        assert self._opening is not None
        return self._opening.agents

    def _is_ours(self, session: str) -> bool:
        """Ends of agents of an earlier session still arrive, and change nothing on this one."""
        assert self._opening is not None
        return session in ((self.session.id if self.session else ""), self._opening.host_session)

    def _allowance(self) -> int | None:
        return self._told.answered(self.session) if self.session is not None and self._closed is None else None

    # -- tools and /coord

    def _tool_call(self, request: Request, params: dict[str, Any]) -> None:
        name, args = params["name"], params.get("args") or {}
        if name == "coord_status":
            self._show(request, ["status"], tool=True)
        elif name == "coord_pause":
            self._do(request, lambda session: tools.pause(session, str(args.get("reason") or "")), tool=True)
        elif name == "coord_resume":
            self._do(request, tools.resume, tool=True)
        else:
            raise RpcError(BAD_PARAMS, f"name: there is no tool {clean(name[:80])}")

    def _slash_run(self, request: Request, params: dict[str, Any]) -> None:
        word, _, rest = params["args"].strip().partition(" ")
        if word in ("", "status", "agents"):
            self._show(request, [word or "status"])
        elif word == "pause":
            self._do(request, lambda session: tools.pause(session, rest.strip()))
        elif word == "resume":
            self._do(request, tools.resume)
        elif word == "leave":
            self._do(request, lambda session: tools.leave(session, rest.strip()))
        elif word == "help":
            self._say(request, tools.help_text())
        else:
            self._say(request, f"There is no `/coord {clean(word[:40])}`.\n\n{tools.help_text()}")

    def _slash_complete(self, params: dict[str, Any]) -> dict[str, Any]:
        return {"items": tools.complete(params["prefix"], self.session)}

    def _message_ack(self, params: dict[str, Any]) -> None:
        self._told.acknowledged(params["ids"])

    def _show(self, request: Request, what: list[str], *, tool: bool = False) -> None:
        """A reading command's text, by another process: it takes half a second."""
        closed = self._closed
        if closed is not None and closed.code != "noServer":
            self._say(request, self._why_inactive(closed), tool=tool)
            return
        assert self._opening is not None
        cwd, session = self._opening.cwd, self.session
        note = self._told.allowance(session)[1] if session is not None else ""
        first = self._why_inactive(closed) if closed else f"This is session {session.label if session else '?'}; {note}."

        def then(text: Any) -> None:
            failed = isinstance(text, Exception)
            shown = f"The board cannot be shown: {clean(str(text))}" if failed else f"```\n{text.rstrip()}\n```"
            self._say(request, f"{first}\n\n{shown}", tool=tool, error=failed)

        self.errands.send(lambda: self.show(what, cwd), then)

    def _do(self, request: Request, verb: Callable[[Session], str], *, tool: bool = False) -> None:
        if self.session is None or self._closed is not None:
            assert self._closed is not None
            self._say(request, self._why_inactive(self._closed), tool=tool, error=True)
            return
        try:
            self._say(request, verb(self.session), tool=tool)
        except tools.Away:
            self._say(request, "The board cannot be reached; nothing was changed.", tool=tool, error=True)

    def _say(self, request: Request, text: str, *, tool: bool = False, error: bool = False) -> None:
        self._answer(request, {"text": text, "isError": error} if tool else {"text": text})

    def _why_inactive(self, closed: Closed) -> str:
        return f"omp-coord is not active in this session ({closed.code}): {closed}"

    # -- being driven

    def tick(self) -> float:
        """Does what is due, tells what is new; says in how many seconds to call again."""
        self.errands.home()
        self._ask_spawns()
        due = 60.0
        if self.session is not None:
            due = self._drive(self.session)
        if self._opening is not None and not self._off:
            due = min(due, self._watch())
        if self._spawns:
            due = min(due, max(0.0, self._spawns[0][1].due - time.monotonic()))
        return due

    @property
    def _off(self) -> bool:
        return self._closed is not None and self._closed.code in ("off", "upgrade")

    def _drive(self, session: Session) -> float:
        due = session.pump()
        if session.state == "over":
            self._taken_over(session)
        elif self._closed is None:
            if session.state == "apart" and session.contact.lost_for > 0 and session.contact.retry_in > 0:
                self._told.outage(session)  # a look for it has failed
            self._told.news(session, quiet=bool(self._spawns))
        elif session.state == "joined":
            self._join_late(session)
        else:
            self._told.offline()
        return due

    def _join_late(self, session: Session) -> None:
        self._active(session)
        self.out.notify("joined", self._opened())
        self._told.notify("info", f"omp-coord is active now: this is session {session.label}")

    def _taken_over(self, session: Session) -> None:
        self._closed = Closed("off", "another bridge of the same host has taken this session over")
        self.session = None
        self._told.notify("warning", str(self._closed))

    # -- the configuration file

    def _watch(self) -> float:
        now = time.monotonic()
        if now >= self._file_at and not self._loads:
            self._file_at = now + LOOK_S
            assert self._opening is not None
            if self._opening.mark.changed():
                self._load(self._opening)
        return max(0.0, self._file_at - now) if not self._loads else 60.0

    def _load(self, opening: Opening) -> None:
        session = self.session
        scope = session.contact.settings.scope if session is not None and self._closed is None else None
        self._loads = True

        def then(settings: Any) -> None:
            self._loads = False
            if opening is self._opening:
                self._loaded(opening, settings)

        self.errands.send(lambda: load_lean(opening.cwd, self.env, self.home, scope=scope), then)

    def _loaded(self, opening: Opening, found: Any) -> None:
        session = self.session
        if session is not None and self._closed is None:
            self._changed(session, found)
        elif found is None or isinstance(found, Exception):
            code = "noConfig" if found is None else "badConfig"
            text = str(found).splitlines()[0] if found else "the configuration file is gone"
            self._closed = Closed(code, text, session)
        else:
            self._try_join(opening)

    def _try_join(self, opening: Opening) -> None:
        if self.session is not None:
            self.session.contact.close()
        try:
            self._join_late(opening.join())
        except Closed as closed:
            self._not_active(closed)
            self._told.notify("error", str(closed))

    def _changed(self, session: Session, found: Any) -> None:
        """A running session takes up a valid file at its next beat; an invalid one is reported, and the old one kept."""
        if isinstance(found, ConfigError):
            self._told.notify("error", f"the changed configuration is not used: {str(found).splitlines()[0]}")
        elif not isinstance(found, Exception) and found is not None and found.policy != session.contact.settings.policy:
            session.contact.settings = found
            session.policy = found.policy, found.policy_json
            session.beat_soon(0.0)


def _unused() -> None:
    os.getpid()
