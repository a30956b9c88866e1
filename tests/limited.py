"""Connections that may do no more than the board needs, so that a step beyond it fails the test.

A scope's own user reaches its keys and channels and nothing else. Each script runs as a user of its own, limited to the
keys that its KEYS line declares and to the commands that its text calls: an undeclared key is a NOPERM.
"""

from __future__ import annotations

import re
from typing import Any

from coord import scripts
from coord.board import Board
from coord.keys import KEYS, Keys
from coord.wire import Link, connect
from tests.boards import TIMED, unique_scope
from tests.servers import Server

PASSWORD = "pw"
CLIENT = ("hello", "auth", "ping", "select", "subscribe", "unsubscribe", "evalsha", "eval")
"""What a client of the board says beside the commands inside the scripts."""


def commands_of(text: str) -> set[str]:
    """The Redis commands that a script's text calls."""
    return {word.lower() for word in re.findall(r"redis\.call\(\s*'(\w+)'", text)}


SCRIPTS = {name: scripts.load(name) for name in scripts.names()}
COMMANDS = sorted({word for script in SCRIPTS.values() for word in commands_of(script.text)} | set(CLIENT))
"""All commands that an ACL user of the board needs."""


class Scope:
    """A scope with its users; `url` is the one that everybody but the checks connects with, `admin` sees everything."""

    def __init__(self, server: Server) -> None:
        self.name, self.server = unique_scope(), server
        self.keys = Keys(self.name)
        self.admin: Any = connect(server.url)
        self.users = {"": self.name, **{name: f"{self.name}/{name}" for name in SCRIPTS}}
        self.links: list[Any] = []
        rules = [self._rules("", COMMANDS, [f"~coord:{{{self.name}}}:*"])]
        for name, script in SCRIPTS.items():
            # The tests' clock stands in `meta`, which every script declares; it is read with HGET.
            words = commands_of(script.text) | {"evalsha", "eval", "auth", "hget"}
            rules.append(self._rules(name, sorted(words), [f"~{self.keys[key]}" for key in script.keys]))
        self.admin.send(*rules)
        self.admin.answer()

    @property
    def url(self) -> str:
        return self.server.url.replace("unix://", f"unix://{self.name}:{PASSWORD}@")

    def _rules(self, name: str, commands: list[str], keys: list[str]) -> tuple[str, ...]:
        channels = ["resetchannels", f"&coord:{{{self.name}}}:*"]
        may = [f"+{word}" for word in commands]
        return ("ACL", "SETUSER", self.users[name], "reset", "on", f">{PASSWORD}", *keys, *channels, *may)

    def link(self) -> Link:
        """A connection of the scope's own user, closed at the end of the test."""
        link = connect(self.url)
        assert isinstance(link, Link)
        self.links.append(link)
        return link

    def board(self, machine: str = "m1", *, fresh: bool = True, kind: type[Board] = Board) -> Board:
        """A board with a clock for tests, whose scripts run as their own users."""
        link: Any = ScriptLink(self, TIMED)
        return kind(link, self.name, machine=machine, fresh=fresh, loaded=dict(TIMED))

    def foreign_keys(self) -> list[str]:
        """Keys on the server that `coord.keys` does not spell."""
        found: Any = self.admin.call("KEYS", "*")
        spelt = re.compile(rf"coord:\{{[^}}]+\}}:({'|'.join(KEYS.values())})")
        return sorted(key for key in found if not spelt.fullmatch(key))

    def flush(self) -> None:
        """Takes everything of the scope away in one step, as FLUSHALL does."""
        self.admin.call("DEL", *self.keys.all())

    def close(self) -> None:
        """Takes the scope off the server and ends its connections."""
        for link in self.links:
            link.close()
        self.flush()
        self.admin.call("ACL", "DELUSER", *self.users.values())
        self.admin.close()


class ScriptLink:
    """The board's connection, which becomes the script's own user for each script it calls."""

    def __init__(self, scope: Scope, loaded: dict[str, scripts.Script]) -> None:
        self._link = scope.link()
        self._users = scope.users
        self.address = self._link.address
        self._names = {script.sha: name for name, script in loaded.items()}
        self._names |= {script.text: name for name, script in loaded.items()}
        self._now = ""

    def call(self, *words: Any, timeout: float = 3.0) -> Any:
        name = self._names[words[1]] if words[0] in ("EVALSHA", "EVAL") else ""
        if name != self._now:
            self._link.call("AUTH", self._users[name], PASSWORD)
            self._now = name
        return self._link.call(*words, timeout=timeout)
