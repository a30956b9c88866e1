"""How a script of the board is called: one EVALSHA, waited for or not, on one connection.

Whatever the board decides is decided in `lua/`; this class only says who is asking, carries along what the caller saw of
its machine's processes, and turns faults into `Unavailable` or `BoardFault`.
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


class Caller:
    """Calls the scripts of one scope over one connection.

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

    def insist(self, name: str, **values: object) -> Answer:
        """As `call`, with the script's whole text: for last words. A server that hangs now carries them out when it goes on,
        also if it does not know the script; nobody is there any more then to hear that and to send it."""
        script, words = self.words(name, values)
        self._posted = None
        return self._call(script, words, "EVAL", script.text)

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


def fault(name: str, error: ServerError) -> Exception:
    """The exception for an error reply to a script."""
    text = printable(error)
    code = text.rpartition(": -")[2].split(" ", 1)[0]  # Redis 6.2 wraps what a command inside a script was told
    if code in _AWAY or any(words in text for words in _NOT_ALLOWED):
        return Unavailable(f"the server refuses: {text}")
    return BoardFault(f"{name}.lua: {text}")
