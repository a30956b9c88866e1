"""A Python program as a session of the board, with agents of its own that count against the shared pools."""

from __future__ import annotations

import logging
import os
import threading
import time
from typing import TYPE_CHECKING, Any

from coord.bridge.session import Session as Member
from coord.bridge.spawns import Spawn as Request
from coord.contact import Contact

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coord.config.settings import Settings
    from coord.home import Home

log = logging.getLogger("coord")
MAIN = "Main"
LOOK_S = 0.5
"""Seconds between two looks of the beating thread at the connection."""


class Spawn:
    """The answer to `request_spawn`. `allowed`: start the agent; else `reason` says why not, `cause` in one word (full,
    held, paused, load, policy, settling, nestedType, nestedFull) and `place` where the session stands in line (1 = next,
    None: nowhere). `pool` None: counted, not capped. `coordinated` False: there is no board, and nobody counts."""

    def __init__(self, result: dict[str, Any]) -> None:
        self.allowed: bool = result["allowed"]
        self.coordinated: bool = result["coordinated"]
        self.reason: str = result.get("reason", "")
        self.cause: str | None = result.get("cause")
        self.place: int | None = result.get("place")
        self.pool: str | None = result["pool"]
        self.used: int = result["used"]
        self.cap: int | None = result["cap"]

    def __bool__(self) -> bool:
        return self.allowed


class Session:
    """On the board from `with` to its end, or to `close`; beats by a thread. Threads may share it; a fork has no part in it.

    `label` is its letter. Raises `coord.Unavailable` when there is no board to join; a board that is lost later is
    looked for again, and meanwhile spawns are let through.
    """

    def __init__(
        self, settings: Settings, home: Home, env: Mapping[str, str], cwd: str, redis: str | None = None
    ) -> None:
        self._member = Member(Contact(settings, home, env, url=redis, lasting=True), cwd=cwd)
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._pid = os.getpid()
        self._parents: dict[str, tuple[str, str]] = {}

    def __enter__(self) -> Session:
        with self._lock:
            self._member.open()
            self._tell()
        threading.Thread(target=self._beat, name="omp-coord-session", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Leaves the board with all its agents; a second time, and in a forked child, nothing happens."""
        if self._pid != os.getpid() or self._over.is_set():
            return
        self._over.set()
        with self._lock:
            self._member.leave("exit")

    @property
    def id(self) -> str:
        return self._member.id

    @property
    def label(self) -> str:
        return self._member.label

    @property
    def held(self) -> list[str]:
        """Pools in which a slot is held for this session now: after a refusal, when its turn has come."""
        return list(self._member.picture.holds)

    def request_spawn(self, type: str, key: str | None = None, parent: str | None = None) -> Spawn:
        """Asks to start an agent of `type`; `key`: its id, if known; `parent`: the agent that starts it (None: this
        program). A new board settles for up to 3 s, which is waited for."""
        above = {"id": parent or MAIN, "kind": "main" if parent is None else "sub"}
        request = Request(above, type, key or "")
        while request.result is None:
            with self._lock:
                request.ask(self._member)
            if request.result is None:
                time.sleep(max(0.0, request.due - time.monotonic()))
        if request.result["allowed"]:
            self._parents[key or ""] = (type, parent or "")
        return Spawn(request.result)

    def started(self, id: str, type: str | None = None, parent: str | None = None) -> None:
        """The agent `id` runs. What was asked for under that key is known; else say `type` and `parent`. Started without
        asking, it is counted all the same."""
        known = self._parents.pop(id, None) or self._parents.pop("", None) or ("", "")
        above = parent if parent is not None else known[1]
        with self._lock:
            entry = self._member.agents.started(
                {
                    "id": id,
                    "type": type or known[0] or id,
                    "parent": {"id": above or MAIN, "kind": "sub" if above else "main"},
                }
            )
            self._member.ask(
                "agent_started", slot=entry["slot"], agent=id, parent=entry["parent"]["id"],
                parent_kind=entry["parent"]["kind"], type=entry["type"], unqueued=entry["unqueued"],
            )  # fmt: skip

    def ended(self, id: str) -> None:
        """The agent `id` has ended; its slot is free half a second later, or at once when this session needs it."""
        with self._lock:
            self._member.agents.ended(id)
            self._member.ask("agent_ended", agent=id)

    def _beat(self) -> None:
        due = 0.0
        while not self._over.wait(min(due, LOOK_S)):
            with self._lock:
                if not self._over.is_set():
                    due = self._pump()

    def _pump(self) -> float:
        """A fault of ours must not end the beats: others would see a session that is alive and says nothing."""
        try:
            due = self._member.pump()
            self._tell()
        except Exception:
            log.exception("the session could not be kept up; going on")
            return LOOK_S
        return due

    def _tell(self) -> None:
        for text in self._member.contact.told():
            log.warning(text)
