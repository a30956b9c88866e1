"""The requests of people (`/coord`) and of agents' tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coord.bridge import tools
from coord.bridge.rpc import BAD_PARAMS, RpcError
from coord.names import clean

if TYPE_CHECKING:
    from collections.abc import Callable

    from coord.bridge.bridge import Bridge
    from coord.bridge.rpc import Request
    from coord.bridge.session import Session


class UserCalls:
    """Reading takes another process and half a second, so its answer comes when it comes; all else is done at once."""

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge

    def tool_call(self, request: Request, params: dict[str, Any]) -> None:
        name, args = params["name"], params.get("args") or {}
        if name == "coord_status":
            self._show(request, "status", tool=True)
        elif name == "coord_pause":
            self._do(request, lambda session: tools.pause(session, str(args.get("reason") or "")), tool=True)
        elif name == "coord_resume":
            self._do(request, tools.resume, tool=True)
        else:
            raise RpcError(BAD_PARAMS, f"name: there is no tool {clean(name[:80])}")

    def slash_run(self, request: Request, params: dict[str, Any]) -> None:
        word, _, rest = params["args"].strip().partition(" ")
        if word in ("", "status", "agents"):
            self._show(request, word or "status")
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

    def slash_complete(self, params: dict[str, Any]) -> dict[str, Any]:
        return {"items": tools.complete(params["prefix"], self._bridge.session)}

    def _show(self, request: Request, what: str, *, tool: bool = False) -> None:
        bridge = self._bridge
        closed, session = bridge.closed, bridge.session
        if closed is not None and closed.code != "noServer":
            self._say(request, closed.words, tool=tool)
            return
        assert bridge.opening is not None
        cwd = bridge.opening.cwd
        first = closed.words if closed is not None else self._self_words(session)

        def then(text: Any) -> None:
            failed = isinstance(text, Exception)
            shown = f"The board cannot be shown: {clean(str(text))}" if failed else f"```\n{text.rstrip()}\n```"
            self._say(request, f"{first}\n\n{shown}", tool=tool, error=failed)

        # The session's own board, whatever its file names now.
        scope = ["--scope", session.contact.settings.scope] if session is not None else []
        bridge.errands.send(lambda: bridge.show([what, *scope], cwd), then)

    def _self_words(self, session: Session | None) -> str:
        assert session is not None
        return f"This is session {session.label}; {self._bridge.told.allowance(session)[1]}."

    def _do(self, request: Request, verb: Callable[[Session], str], *, tool: bool = False) -> None:
        bridge = self._bridge
        if bridge.session is None or bridge.closed is not None:
            assert bridge.closed is not None
            self._say(request, bridge.closed.words, tool=tool, error=True)
            return
        try:
            self._say(request, verb(bridge.session), tool=tool)
        except tools.Away:
            self._say(request, "The board cannot be reached; nothing was changed.", tool=tool, error=True)

    def _say(self, request: Request, text: str, *, tool: bool = False, error: bool = False) -> None:
        self._bridge.answer(request, {"text": text, "isError": error} if tool else {"text": text})
