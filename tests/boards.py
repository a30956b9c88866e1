"""Boards for tests: a scope of their own on a real server, and a clock that the test sets."""

from __future__ import annotations

import itertools
import json
import os
from typing import Any

from coord import scripts
from coord.board import Board
from coord.wire import connect

_counter = itertools.count()

TEST_CLOCK = """
local function clock()
  local micros = tonumber(redis.call('HGET', META, 'testMicros'))
  return math.floor(micros / 1000), micros
end
"""

TIMED = {name: scripts.load(name, instead={"lib/clock": TEST_CLOCK}) for name in scripts.names()}
"""The scripts with `lib/clock` replaced by one that reads `meta.testMicros`."""


def unique_scope() -> str:
    """A scope that no other test uses."""
    return f"t{os.getpid()}-{next(_counter)}"


class Clock:
    """A clock on the board itself, so that several boards (machines) of one scope share it."""

    def __init__(self, board: Board, start_ms: int = 1_800_000_000_000) -> None:
        self.board = board
        self.set_ms(start_ms)

    def set_ms(self, ms: int) -> None:
        self.ms = ms
        self.board.link.call("HSET", self.board.keys.meta, "testMicros", ms * 1000)

    def step(self, ms: int) -> None:
        """Moves time on (or back, when negative)."""
        self.set_ms(self.ms + ms)

    def restore(self) -> None:
        """Writes the time again after a flush."""
        self.set_ms(self.ms)


def timed_board(url: str, scope: str | None = None, *, machine: str = "m1", fresh: bool = True) -> Board:
    """A board whose time stands still until its `Clock` is moved."""
    return Board(connect(url), scope or unique_scope(), machine=machine, fresh=fresh, loaded=TIMED)


def real_board(url: str, scope: str | None = None, *, machine: str = "m1", fresh: bool = True) -> Board:
    return Board(connect(url), scope or unique_scope(), machine=machine, fresh=fresh)


def policy(**queues: dict[str, Any]) -> str:
    """A policy's JSON as the board gets it: `policy(build={"slots": 2})`."""
    return json.dumps({"source": "test", "queues": queues}, sort_keys=True, separators=(",", ":"))


def record(job: str, *, pid: int = 1000, start: str = "1", **fields: Any) -> str:
    """A job's record as a runner sends it; its instance token is the job's id."""
    return json.dumps({"process": {"pid": pid, "start": start, "instance": job}, "command": "true", **fields})
