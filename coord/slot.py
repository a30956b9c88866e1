"""A slot of a queue, held by a Python program."""

from __future__ import annotations

import logging
import os
import threading
import time
from contextvars import ContextVar
from typing import TYPE_CHECKING

from coord.errors import BoardFault, ConfigError, Refused, Unavailable, WaitTimeout
from coord.names import clean
from coord.run.job import SERVERLESS_S, Job
from coord.run.record import Record
from coord.run.words import cancelled, obstacle

if TYPE_CHECKING:
    from coord.contact import Contact
    from coord.coordinator import Coordinator

log = logging.getLogger("coord")
_inside: ContextVar[tuple[Slot, ...]] = ContextVar("omp_coord_slots", default=())
"""The slots that this thread or task is inside of, outermost first; a fork inherits the list, but none of them."""


class Slot:
    """`job` (its id on the board), `fence` (an int that only grows per queue; 0 when not coordinated), `lane`,
    `coordinated`, and `kill_asked`: (who, why) when somebody asked to end this job, which only the program can do.

    One `with` at a time; a slot may be taken again after it was given back.
    """

    def __init__(
        self, coordinator: Coordinator, queue: str, lane: str, *, wait: float | None, label: str | None, strict: bool
    ) -> None:
        self.queue, self.lane = queue, lane
        self.coordinated = False
        self._coordinator = coordinator
        self._wait, self._label, self._strict = wait, label, strict
        self._job: Job | None = None
        self._pid = os.getpid()
        self._lock = threading.Lock()  # of the connection, between the user's thread and the one that beats
        self._used = threading.Lock()

    @property
    def job(self) -> str:
        return self._job.id if self._job else ""

    @property
    def fence(self) -> int:
        return int(self._job.fence or 0) if self._job else 0

    @property
    def kill_asked(self) -> tuple[str, str] | None:
        return self._job.kill if self._job else None

    def __enter__(self) -> Slot:
        if self._pid != os.getpid():
            self._pid, self._job, self.coordinated = os.getpid(), None, False  # the parent's
            self._lock, self._used = threading.Lock(), threading.Lock()
        if not self._used.acquire(blocking=False):
            raise RuntimeError("this slot is in use; ask the coordinator for another one")
        try:
            if not self._coordinator.off:
                self._ask()
        except BaseException:
            self._used.release()
            raise
        _inside.set((*_inside.get(), self))
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Gives the slot back; a second time, and in a forked child, nothing happens."""
        if self._pid != os.getpid() or not self._used.locked():
            return
        _inside.set(tuple(slot for slot in _inside.get() if slot is not self))
        try:
            self._give_back("failed" if kind else "ok")
        finally:
            self._used.release()

    def beat(self) -> None:
        """Renews the lease when it is due; called by the coordinator's thread."""
        with self._lock:
            if self._job is not None:
                self._job.pump()
                self._tell(self._job.contact)
                self.coordinated = self._job.state == "held"

    def _give_back(self, outcome: str) -> None:
        with self._lock:
            job, self._job = self._job, None
            self.coordinated = False
            if job is not None:
                self._coordinator.release(self)
                self._coordinator.settle(job, lambda: job.finish(outcome))

    def _ask(self) -> None:
        cwd = _cwd()
        job = self._new_job(self._coordinator.contact(), cwd)
        try:
            self._take(job)
            self.coordinated, self._job = job.state == "held", job
            self._coordinator.hold(self)
        except BaseException:  # also Ctrl-C, at whatever point: nothing of this job may stay on the board
            self._job, self.coordinated = None, False
            self._coordinator.release(self)
            self._coordinator.settle(job, job.leave)
            raise

    def _new_job(self, contact: Contact, cwd: str) -> Job:
        asker = self._coordinator.asker
        label = clean(self._label)[:200] if self._label else None
        record = Record(label=label, command="python", cwd=cwd, agent=clean(asker.agent), wake=contact.wake)
        return Job(
            contact, self.queue, self.lane, owner=asker.owner, record=record, session=asker.session,
            parent=self._around() or asker.parent, wake=contact.wake,
        )  # fmt: skip

    def _around(self) -> str:
        """The innermost job of this board that this thread or task is inside of: its slot may serve for this one too."""
        scope = self._coordinator.settings.scope
        for slot in reversed(_inside.get()):
            if slot._pid == os.getpid() and slot.job and slot._coordinator.settings.scope == scope:
                return slot.job
        return ""

    def _take(self, job: Job) -> None:
        until = None if self._wait is None else time.monotonic() + self._wait
        try:
            answer = job.enqueue(wait=self._wait != 0)
            while answer.verdict == "busy" and answer.settle_ms:
                time.sleep(answer.settle_ms / 1000 + 0.005)  # a new board grants nothing before; that is no "busy"
                answer = job.enqueue(wait=self._wait != 0)
        except (Unavailable, BoardFault) as error:
            self._without(job, str(error), error)
            return
        finally:
            self._tell(job.contact)
        if answer.verdict == "knot":
            raise Refused(
                f"the wait for {self.queue} could never end: every slot is held by a job that waits for this one"
            )
        if answer.verdict == "busy":
            raise WaitTimeout(f"no slot of {self.queue} is free ({obstacle(job.busy)})")
        while job.state in ("waiting", "over"):
            self._wait_on(job, until)

    def _wait_on(self, job: Job, until: float | None) -> None:
        due = job.pump()
        self._tell(job.contact)
        if job.state == "over":
            raise Refused(cancelled(job))
        if job.state != "waiting":
            return
        if until is not None:
            left = until - time.monotonic()
            if left <= 0:
                held = obstacle(job.waiting)
                raise WaitTimeout(f"no slot of {self.queue} within {self._wait:g} s ({held})")
            due = min(due, left)
        if job.contact.lost_for > SERVERLESS_S:
            self._without(job, f"no server for {SERVERLESS_S:g} s ({job.contact.server})")
        else:
            job.contact.listen(due)

    def _without(self, job: Job, text: str, error: Exception | None = None) -> None:
        """There is no board: the slot is had uncoordinated, unless `strict`."""
        if self._strict:
            raise error or Unavailable(text)
        log.warning("%s; going on without coordination", text)
        job.state = "apart"
        job.contact.lose()

    def _tell(self, contact: Contact) -> None:
        for text in contact.told():
            log.warning("%s", text)


def _cwd() -> str:
    try:
        return os.getcwd()
    except OSError:
        raise ConfigError("the working directory is gone; change to one that exists") from None
