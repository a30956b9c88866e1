"""The command of a job: started, watched, ended at its limit, and what it leaves behind.

One thread waits for three things at once: signals, the server (its socket raises SIGIO) and time.
"""

from __future__ import annotations

import os
import time

from coord.run import child as children
from coord.run import signals as signal
from coord.run import words
from coord.run.tree import Ending, Tree, after, leftovers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from coord.run.job import Job
    from coord.run.processes import Proc
    from coord.run.show import Show
    from coord.run.signals import Event, Signals
    from coord.run.tree import Lasting

STOP_S = 0.5
"""Seconds that a stop (Ctrl-Z) may wait for the board to take it in."""


class End:
    """How the runner ends: with `code`, or by `signal` as the command did."""

    __slots__ = ("code", "signal")

    def __init__(self, code: int = 0, signal: int = 0) -> None:
        self.code, self.signal = code, signal


class Command:
    """The running phase of a job that holds its slot (or runs apart). `policy` is the queue's `leftovers`."""

    def __init__(self, job: Job, argv: Sequence[str], signals: Signals, show: Show, policy: str) -> None:
        self.job, self.argv, self.signals, self.show, self.policy = job, argv, signals, show, policy

    def run(self) -> End:
        """Runs it to its end, and gives the slot back."""
        job = self.job
        children.become_subreaper()
        try:
            self.child = children.spawn(self.argv, self._environment(), self.signals)
        except children.SpawnError as error:
            self.show.notice(str(error))
            job.finish("notFound" if error.exit_code == 127 else "notExecutable", code=error.exit_code)
            return End(code=error.exit_code)
        self.tree = Tree(exclude=self._excluded)
        self._started = time.monotonic()
        self._ending: Ending | Lasting | None = None
        self._limit_s = _limit_of(job)
        if job.limit_ms is not None and self._limit_s is not None and self._limit_s * 1000 < job.limit_ms:
            self.show.notice(
                f"{job.queue} allows {self._limit_s:g} s, not {job.limit_ms / 1000:g} s; that is the limit"
            )
        self._cause = ""  # why we ended it: "timedOut", "killed"
        while self.child.poll() is None:
            self._look_at_child()
            self._step()
        return self._after()

    def _step(self) -> None:
        """One round while the command runs, or while what is left of it is ended or waited for."""
        watch(self.signals, self.job)
        due = self.job.pump()
        tell(self.show, self.job)
        now = time.monotonic()
        self._check_limits(now)
        if self._ending is not None:
            next_tick = self._ending.tick(now)
            if next_tick is None:
                return  # done: nothing to wait for
            due = min(due, next_tick)
        if self._limit_s is not None and not isinstance(self._ending, Ending):
            due = min(due, max(0.0, self._started + self._limit_s - now))
        event = self.signals.wait(due)
        if event is not None:
            self._taken(event)

    def _check_limits(self, now: float) -> None:
        if isinstance(self._ending, Ending):
            return
        elapsed = now - self._started
        if self.job.kill is not None:
            by, reason = self.job.kill
            self.show.notice(f"ended by {by}" + (f": {reason}" if reason else ""))
            self._cause, self._ending = "killed", Ending(self.tree.alive)
        elif self._limit_s is not None and elapsed >= self._limit_s:
            self.show.notice(f"time limit of {self._limit_s:g} s reached after {elapsed:.1f} s; ending the command")
            self._cause, self._ending = "timedOut", Ending(self.tree.alive)

    def _taken(self, event: Event) -> None:
        if event.signo in signal.STOPPING:
            if not event.from_terminal:
                self.child.send(event.signo)
            self._stop()
        elif event.signo in signal.ENDING and self.child.status is not None:
            # The command is over. What it left behind is waited for no longer, or no longer asked to end but killed.
            if isinstance(self._ending, Ending):
                self._ending.hurry()
            else:
                self._ending = None
        elif event.signo in signal.FORWARDED and not event.from_terminal:
            self.child.send(event.signo)

    def _look_at_child(self) -> None:
        """What `Child.poll` saw: a command that stopped by itself stops us too; the shell would see it without us."""
        if self.child.has_stopped() and signal.in_foreground():
            self._stop()
        state = "stopped" if self.child.stopped else "running"
        if state != self.job.running_state:
            self.job.tell(state)

    def _stop(self) -> None:
        self.job.tell("stopped", within=STOP_S)
        self.signals.stop_self()
        self.child.send(signal.SIGCONT)
        self.child.poll()
        self.child.has_stopped()  # that stop's own news
        self.job.tell("running")

    def _after(self) -> End:
        """The command has ended: what is left of it, the slot, and how we end."""
        left = leftovers(self.tree) if self._ending is None else []
        if left:
            self._name_leftovers(left)
            self._ending = after(self.policy, self.tree)
        while self._ending is not None and not self._ending.done:
            self.child.poll()
            self._step()
        if isinstance(self._ending, Ending) and self._ending.left:
            left = self._ending.left
            self.show.notice(f"could not be ended: {words.named(left)}")
        outcome, end = self._outcome()
        status = self.child
        self.job.finish(outcome, code=status.exit_code, signal=status.term_signal, leftovers=words.named(left))
        return end

    def _name_leftovers(self, left: list[Proc]) -> None:
        what = {"keep": "left running", "kill": "ending them", "wait": "waiting for them"}[self.policy]
        self.show.notice(f"the command ended, its processes live on: {words.named(left)} ({what})")

    def _outcome(self) -> tuple[str, End]:
        if self._cause:
            return self._cause, End(code=124) if self._cause == "timedOut" else End(signal=signal.SIGTERM)
        if self.child.term_signal is not None:
            return "signal", End(signal=self.child.term_signal)
        code = self.child.exit_code or 0
        return "failed" if code else "ok", End(code=code)

    def _environment(self) -> dict[str, str]:
        job = self.job
        env = dict(os.environ)
        env.update(
            OMP_COORD_QUEUE=job.queue, OMP_COORD_JOB=job.id, OMP_COORD_LANE=job.lane, OMP_COORD_FENCE=job.fence,
            OMP_COORD_SCOPE=self.job.contact.settings.scope, OMP_COORD_EPOCH=job.epoch,
        )  # fmt: skip
        return env

    def _excluded(self) -> set[int]:
        from coord.server.pids import server_pids

        return server_pids(self.job.contact.home)


def watch(signals: Signals, job: Job) -> bool:
    """Has the connection raise SIGIO; after a reconnect it is another one, perhaps with the same number. False: there is
    none to watch."""
    board = job.contact.board
    fd = board.link.fileno() if board is not None else -1
    if fd >= 0:
        signals.watch(fd)
    return fd >= 0


def tell(show: Show, job: Job) -> None:
    """Shows what the contact has to say."""
    for text in job.contact.told():
        show.quiet()
        show.notice(text)


def _limit_of(job: Job) -> float | None:
    """Seconds: the board's word, or without a board the shorter of what the file and the caller say."""
    if job.granted is not None:
        ms = job.granted.limit_ms
    else:
        known = [ms for ms in (job.limit_ms, job.queue_limit_ms) if ms is not None]
        ms = min(known, default=None)
    return None if ms is None else ms / 1000
