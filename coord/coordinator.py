"""The queues for Python programs, with the rules of `omp-coord run`:

from coord import Coordinator
with Coordinator.from_cwd().slot("gpu", wait=60) as slot:
    train(fence=slot.fence)
"""

from __future__ import annotations

import logging
import os
import threading
from typing import TYPE_CHECKING

from coord.config.load import load
from coord.contact import Contact
from coord.home import Home
from coord.run.asker import Asker
from coord.slot import Slot

if TYPE_CHECKING:
    from coord.config.settings import Settings

log = logging.getLogger("coord")
BEAT_CHECK_S = 0.5
"""Seconds between two looks of the beating thread at the slots in use; each beats every 2 s."""


class Coordinator:
    """A scope's queues. Threads may share it; a fork starts with none of its slots and connections.

    Connections are kept for the next slot; `close` (or leaving the `with`) gives them up. Lines for the user (a server
    started, no server to be had) go to the logger `coord` as warnings.
    """

    def __init__(self, settings: Settings, home: Home, redis: str | None = None) -> None:
        self.settings = settings
        self.home = home
        self._redis = redis
        self._lock = threading.Lock()
        self._reset()

    def _reset(self) -> None:
        self._pid = os.getpid()
        self._idle: list[Contact] = []
        self._held: set[Slot] = set()
        self._beater: threading.Thread | None = None
        self._some_held = threading.Event()
        self._stacks = threading.local()
        self.asker = Asker(os.environ, self.settings.scope)

    @classmethod
    def from_cwd(
        cls, cwd: str | None = None, *, scope: str | None = None, redis: str | None = None, config: str | None = None
    ) -> Coordinator:
        """The coordinator of the configuration found from `cwd` upwards (`config` names a file, `scope` a board, `redis`
        a server). Raises `coord.ConfigError`."""
        home = Home.find(os.environ)
        settings = load(os.path.abspath(cwd or os.getcwd()), os.environ, home, named=config, scope=scope)
        for text in (home.notice, *settings.warnings):
            if text:
                log.warning(text)
        return cls(settings, home, redis)

    def slot(
        self,
        queue: str,
        *,
        lane: str | None = None,
        wait: float | None = None,
        label: str | None = None,
        strict: bool = False,
    ) -> Slot:
        """A slot of `queue`, taken by `with` and given back at its end.

        `wait` in seconds: None for ever, 0 at once. Raises `coord.ConfigError` (unknown queue or lane) here; entering
        raises `coord.WaitTimeout`, `coord.Refused` (cancelled, or a wait that could never end), and with `strict`
        `coord.Unavailable` when there is no server; without it the slot is then `coordinated = False`.
        """
        self.settings.queue(queue, lane or "default")
        return Slot(self, queue, lane or "default", wait=wait, label=label, strict=strict)

    def close(self) -> None:
        """Closes the connections that no slot uses."""
        with self._lock:
            idle, self._idle = self._idle, []
        for contact in idle:
            contact.close()

    def __enter__(self) -> Coordinator:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- for slots

    def contact(self) -> Contact:
        """A connection of its own for a slot."""
        if self._pid != os.getpid():
            self._lock = threading.Lock()  # a fork: the parent's connections, and who held its lock, are the parent's
            self._reset()
        with self._lock:
            if self._idle:
                return self._idle.pop()
        return Contact(self.settings, self.home, os.environ, url=self._redis, goes_along=False, lasting=True)

    def give(self, contact: Contact) -> None:
        """Takes a connection back that still works."""
        with self._lock:
            self._idle.append(contact)

    @property
    def stack(self) -> list[Slot]:
        """The slots that this thread is inside of, outermost first."""
        if not hasattr(self._stacks, "slots"):
            self._stacks.slots = []
        return self._stacks.slots  # type: ignore[no-any-return]

    def hold(self, slot: Slot) -> None:
        """From now on the slot's lease is renewed."""
        with self._lock:
            self._held.add(slot)
            if self._beater is None:
                self._beater = threading.Thread(target=self._beat, name="omp-coord-beat", daemon=True)
                self._beater.start()
            self._some_held.set()

    def release(self, slot: Slot) -> None:
        with self._lock:
            self._held.discard(slot)

    def _beat(self) -> None:
        pause = threading.Event()
        while True:
            self._some_held.wait()
            pause.wait(BEAT_CHECK_S)
            with self._lock:
                held = list(self._held)
                if not held:
                    self._some_held.clear()
            for slot in held:
                slot.beat()
