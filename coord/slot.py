"""A slot of a queue, held by a Python program."""

from __future__ import annotations

import logging
import os
import select
import threading
import time
from typing import TYPE_CHECKING

from coord.errors import Refused, Unavailable, WaitTimeout
from coord.names import clean
from coord.run.job import SERVERLESS_S, Job
from coord.run.record import Record
from coord.run.words import cancelled, holders

if TYPE_CHECKING:
    from coord.answers import Busy
    from coord.contact import Contact
    from coord.coordinator import Coordinator

log = logging.getLogger("coord")


class Slot:
    """`job` (its id on the board), `fence` (an int that only grows per queue; 0 when not coordinated), `lane`,
    `coordinated`, and `kill_asked`: (who, why) when somebody asked to end this job, which only the program can do."""

    def __init__(
        self, coordinator: Coordinator, queue: str, lane: str, *, wait: float | None, label: str | None, strict: bool
    ) -> None:
        self.queue, self.lane = queue, lane
        self.coordinated = False
        self._coordinator = coordinator
        self._wait, self._label, self._strict = wait, label, strict
        self._job: Job | None = None
        self._pid = 0
        self._lock = threading.Lock()

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
        if self._job is not None:
            raise RuntimeError("this slot is in use; ask the coordinator for another one")
        contact = self._coordinator.contact()
        job = self._job = self._new_job(contact)
        self._pid = os.getpid()
        try:
            self._take(job)
        except BaseException:
            job.leave()
            self._part(contact)
            self._job = None
            raise
        self.coordinated = job.state == "held"
        self._coordinator.stack.append(self)
        self._coordinator.hold(self)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Gives the slot back; a second time, and in a forked child, nothing happens."""
        job = self._job
        if job is None or self._pid != os.getpid():
            return
        self._job = None
        self._coordinator.release(self)
        if self in self._coordinator.stack:
            self._coordinator.stack.remove(self)
        with self._lock:
            job.finish("failed" if kind else "ok")
            self._part(job.contact)

    def beat(self) -> None:
        """Renews the lease when it is due; called by the coordinator's thread."""
        with self._lock:
            if self._job is not None:
                self._job.pump()
                self.coordinated = self._job.state == "held"

    def _new_job(self, contact: Contact) -> Job:
        asker = self._coordinator.asker
        around = self._coordinator.stack
        label = clean(self._label)[:200] if self._label else None
        record = Record(label=label, command="python", cwd=os.getcwd(), agent=clean(asker.agent), wake=contact.wake)
        return Job(
            contact, self.queue, self.lane, owner=asker.owner, record=record, session=asker.session,
            parent=around[-1].job if around else asker.parent, wake=contact.wake,
        )  # fmt: skip

    def _take(self, job: Job) -> None:
        until = None if self._wait is None else time.monotonic() + self._wait
        try:
            answer = job.enqueue(wait=until is None or self._wait != 0)
            while answer.verdict == "busy" and answer.settle_ms:
                time.sleep(answer.settle_ms / 1000 + 0.005)  # a new board grants nothing before; that is no "busy"
                answer = job.enqueue(wait=until is None or self._wait != 0)
        except Unavailable as error:
            if self._strict:
                raise
            self._apart(job, f"{error}; going on without coordination")
            return
        self._tell(job.contact)
        if answer.verdict == "knot":
            raise Refused(
                f"the wait for {self.queue} could never end: every slot is held by a job that waits for this one"
            )
        if answer.verdict == "busy":
            raise WaitTimeout(f"no slot of {self.queue} is free ({holders(_holders(answer))})")
        while job.state == "waiting":
            self._wait_on(job, until)

    def _wait_on(self, job: Job, until: float | None) -> None:
        due = job.pump()
        self._tell(job.contact)
        if job.state == "over":
            raise Refused(cancelled(job))
        if job.state != "waiting":
            return
        if job.contact.lost_for > SERVERLESS_S:
            text = f"no server for {SERVERLESS_S:g} s ({job.contact.server})"
            if self._strict:
                raise Unavailable(text)
            self._apart(job, f"{text}; going on without coordination")
            return
        if until is not None:
            left = until - time.monotonic()
            if left <= 0:
                held = holders(job.waiting.holders if job.waiting else [])
                raise WaitTimeout(f"no slot of {self.queue} within {self._wait:g} s ({held})")
            due = min(due, left)
        _listen(job, due)

    def _apart(self, job: Job, text: str) -> None:
        log.warning(text)
        job.state = "apart"
        job.contact.lose()

    def _tell(self, contact: Contact) -> None:
        for text in contact.told():
            log.warning(text)

    def _part(self, contact: Contact) -> None:
        if contact.board is None or contact.board.waits:
            contact.close()
        else:
            self._coordinator.give(contact)


def _holders(answer: object) -> list[dict[str, object]]:
    busy: Busy = answer  # type: ignore[assignment]
    return busy.holders


def _listen(job: Job, seconds: float) -> None:
    """Sleeps until the connection has news."""
    board = job.contact.board
    fd = board.link.fileno() if board is not None else -1
    if fd < 0:
        time.sleep(min(seconds, 0.1))  # no connection to listen on: the next try is due soon
        return
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    poll.poll(max(1, int(seconds * 1000)))
