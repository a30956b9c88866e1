"""The queues for Python programs, with the rules of `omp-coord run`:

from coord import Coordinator
with Coordinator.from_cwd().slot("gpu", wait=60) as slot:
    train(fence=slot.fence)
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from coord.config.load import load
from coord.config.settings import Settings
from coord.contact import Contact, mark_of
from coord.errors import ConfigError, CoordError
from coord.home import Home
from coord.run.asker import Asker
from coord.session import Session
from coord.slot import Slot

if TYPE_CHECKING:
    from coord.run.job import Job

log = logging.getLogger("coord")
BEAT_CHECK_S = 0.5
"""Seconds between two looks of the beating thread at the slots in use; each beats every 2 s."""


class Coordinator:
    """A scope's queues. Threads may share it; a fork starts with none of its slots and connections.

    Connections are kept for the next slot; `close` (or leaving the `with`) gives them up. Lines for the user (a server
    started, no server to be had) go to the logger `coord` as warnings. `off`: the environment says `OMP_COORD=off`; then
    every slot is had at once, uncoordinated.
    """

    def __init__(self, settings: Settings, home: Home, redis: str | None = None, *, off: bool = False) -> None:
        self.settings = settings
        self.home = home
        self.off = off
        self._redis = redis
        self._file = mark_of(settings.path)
        self._reset()

    def _reset(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._idle: list[Contact] = []
        self._held: set[Slot] = set()
        self._owed: list[tuple[Job, Callable[[], bool]]] = []
        self._beater: threading.Thread | None = None
        self.asker = Asker(os.environ, self.settings.scope)

    @classmethod
    def from_cwd(
        cls, cwd: str | None = None, *, scope: str | None = None, redis: str | None = None, config: str | None = None
    ) -> Coordinator:
        """The coordinator of the configuration found from `cwd` upwards (`config` names a file, `scope` a board, `redis`
        a server). Raises `coord.ConfigError`."""
        home = Home.find(os.environ)
        if os.environ.get("OMP_COORD") == "off":
            return cls(Settings(None, scope or "off"), home, off=True)
        try:
            folder = os.path.abspath(cwd or os.getcwd())
        except OSError:
            raise ConfigError("the working directory is gone; change to one that exists, or name one") from None
        settings = load(folder, os.environ, home, named=config, scope=scope)
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
        if wait is not None and not wait >= 0:
            raise ConfigError(f"wait is {wait:g} s; it must be 0 (at once) or more, or None to wait for ever")
        if not self.off:
            self._refresh()
            self.settings.queue(queue, lane or "default")
        return Slot(self, queue, lane or "default", wait=wait, label=label, strict=strict)

    def session(self, cwd: str | None = None) -> Session:
        """This program as a session of the board (in the folder `cwd`), with agents that count against the shared pools:

        with coordinator.session() as session:
            if session.request_spawn("task", key="W1"):
                session.started("W1")
        """
        folder = os.path.abspath(cwd or os.getcwd())
        return Session(self.settings, self.home, os.environ, folder, redis=self._redis)

    def close(self) -> None:
        """Closes the connections that no slot uses."""
        self._own()
        with self._lock:
            idle, self._idle = self._idle, []
        for contact in idle:
            contact.close()

    def __del__(self) -> None:
        for contact in getattr(self, "_idle", ()) if getattr(self, "_pid", 0) == os.getpid() else ():
            contact.close()

    def __enter__(self) -> Coordinator:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _refresh(self) -> None:
        """A changed, valid configuration file counts from the next slot on; an invalid one is said once."""
        old, mark = self.settings, mark_of(self.settings.path)
        if mark is None or mark == self._file:
            return
        self._file = mark
        try:
            self.settings = load(
                os.path.dirname(old.path or ""), os.environ, self.home, named=old.path, scope=old.scope
            )
        except ConfigError as error:
            log.warning("the changed %s is not used: %s", old.path, str(error).splitlines()[0])

    def _own(self) -> None:
        """In a fork the connections, and whoever held the lock, are the parent's."""
        if self._pid != os.getpid():
            self._reset()

    # -- for slots

    def contact(self) -> Contact:
        """A connection of its own for a slot."""
        self._own()
        with self._lock:
            contact = self._idle.pop() if self._idle else None
        if contact is not None and not contact.moved():
            contact.settings = self.settings
            return contact
        if contact is not None:
            contact.close()
        return Contact(self.settings, self.home, os.environ, url=self._redis, goes_along=False, lasting=True)

    def give(self, contact: Contact) -> None:
        """Takes a connection back, for the next slot if it still works."""
        if contact.board is None or contact.board.waits:
            contact.close()
            return
        with self._lock:
            self._idle.append(contact)

    def hold(self, slot: Slot) -> None:
        """From now on the slot's lease is renewed."""
        with self._lock:
            self._held.add(slot)
            self._beat_on()

    def release(self, slot: Slot) -> None:
        with self._lock:
            self._held.discard(slot)

    def settle(self, job: Job, step: Callable[[], bool]) -> None:
        """Has `step` take the job off the board: now, or as soon as there is a server. Without that the board would keep
        it for as long as this process lives."""
        try:
            done = step()
        except CoordError:
            job.contact.close()
            raise
        except BaseException:  # Ctrl-C
            self._owe(job, step)
            raise
        if done:
            self.give(job.contact)
        else:
            self._owe(job, step)

    def _owe(self, job: Job, step: Callable[[], bool]) -> None:
        with self._lock:
            self._owed.append((job, step))
            self._beat_on()

    # -- the thread

    def _beat_on(self) -> None:
        if self._beater is None:
            self._beater = threading.Thread(target=self._beat, name="omp-coord-beat", daemon=True)
            self._beater.start()

    def _beat(self) -> None:
        pause = threading.Event()
        while True:
            pause.wait(BEAT_CHECK_S)
            with self._lock:
                held, owed, self._owed = list(self._held), self._owed, []
                if not held and not owed:
                    self._beater = None  # a coordinator that nobody uses any more is to be forgotten with its thread
                    return
            for slot in held:
                _guarded(slot.beat)
            for job, step in owed:
                _guarded(lambda job=job, step=step: self._pay(job, step))  # type: ignore[misc]

    def _pay(self, job: Job, step: Callable[[], bool]) -> None:
        if job.contact.board is not None or job.contact.retry() is not None:
            self.settle(job, step)
        else:
            self._owe(job, step)


def _guarded(step: Callable[[], None]) -> None:
    """One slot's trouble (a fault of the board, of its server, of ours) must not end the thread that beats for all."""
    try:
        step()
    except CoordError as error:
        log.warning("%s", error)
    except Exception:
        log.exception("a slot could not be kept up; going on")
