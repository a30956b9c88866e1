"""`docs/operations.md` says what is so."""

from __future__ import annotations

import os
import re

import pytest

from coord.board import Board
from coord.keys import KEYS
from coord.server import shell
from coord.wire import connect
from tests.servers import KINDS, Server

ROOT = os.path.join(os.path.dirname(__file__), "..", "..", "..")
CLIENT = {"auth", "hello", "select", "eval", "evalsha", "subscribe", "unsubscribe", "ping"}
"""What is sent besides the scripts."""


def docs() -> str:
    with open(os.path.join(ROOT, "docs", "operations.md"), encoding="utf-8") as file:
        return file.read()


def acl() -> str:
    return next(line for line in docs().splitlines() if line.startswith("ACL SETUSER"))


def commands_of_scripts() -> set[str]:
    found: set[str] = set()
    for folder, _, names in os.walk(os.path.join(ROOT, "lua")):
        for name in names:
            if name.endswith(".lua"):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    found |= {word.lower() for word in re.findall(r"redis\.p?call\(\s*['\"](\w+)['\"]", file.read())}
    return found


def test_acl_rule_is_exact() -> None:
    """The rule allows each command that is sent or used in a script, and no other one."""
    allowed = set(re.findall(r"\+(\w+)", acl()))
    assert allowed == (commands_of_scripts() | CLIENT) - {"auth"}


@pytest.mark.parametrize("kind", KINDS)
def test_acl_rule_is_enough(kind: str, folder: str) -> None:
    """Every supported server takes the rule, and a user under it reaches its board and no other key."""
    with Server(kind, folder=folder) as server:
        assert server.send(acl().encode()) == b"+OK\r\n"
        link = connect(f"redis://omp-coord:PASSWORD@127.0.0.1:{server.port}")
        board = Board(link, "app")
        assert board.board_read().verdict == "empty"
        board.board_sweep()
        assert board.board_read().verdict == "board"
        for words in (("GET", "x"), ("HGET", "other", "x"), ("INFO",), ("CONFIG", "GET", "*"), ("KEYS", "*")):
            with pytest.raises(Exception, match="NOPERM"):
                link.call(*words)
        link.close()


def test_every_key_can_be_read() -> None:
    """`omp-coord keys` knows how each key of the board is read."""
    assert set(shell.READ_AS) == set(KEYS)


def test_every_error_is_explained() -> None:
    """The clauses that errors about servers are made of stand in the table of errors."""
    text = docs().partition("## What errors mean")[2]
    for clause in (
        "there is no server program to start",
        "OMP_COORD_REDIS_SERVER cannot be used",
        "did not start",
        "does not answer yet",
        "nothing listens there",
        "wants a password",
        "refuses the user or password",
        "runs what cannot be used",
        "is not a Redis server",
        "is a replica",
        "is a node of a cluster",
        "may evict keys",
        "names a server on another machine",
        "the state folder cannot be used",
    ):
        assert clause in text
        assert clause in _sources()


def _sources() -> str:
    found = []
    for folder in ("coord", "coord/server"):
        for name in sorted(os.listdir(os.path.join(ROOT, folder))):
            if name.endswith(".py"):
                with open(os.path.join(ROOT, folder, name), encoding="utf-8") as file:
                    found.append(file.read())
    return "\n".join(found)
