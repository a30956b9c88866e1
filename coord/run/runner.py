"""`omp-coord run`, the loop: waits for the slot, runs the command, ends as it did.

One thread waits for three things at once: signals, the server (its socket raises SIGIO) and time. What is decided is
decided on the board (`job`), what is done to processes in `child` and `tree`; this file only brings them together.
"""

from __future__ import annotations

import os
import time

from coord.errors import BoardFault, Unavailable
from coord.run import child as children
from coord.run import signals as signal
from coord.run import words
from coord.run.job import SERVERLESS_S
from coord.run.tree import Ending, Tree, after, leftovers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    from coord.run.job import Job
    from coord.run.processes import Proc
    from coord.run.signals import Event, Signals
    from coord.run.tree import Lasting

    class Show(Protocol):
        """What the runner says, on stderr."""

        def notice(self, text: str) -> None:
            """A line that is never silenced."""

        def waiting(self, job: Job) -> None:
            """The job waits; called whenever something may have changed, at least twice a second."""

        def quiet(self) -> None:
            """The wait is over: takes the line away."""


STOP_S = 0.5
"""Seconds that a stop (Ctrl-Z) may wait for the board to take it in."""


class End:
    """How the runner ends: with `code`, or by `signal` as the command did."""

    __slots__ = ("code", "signal")

    def __init__(self, code: int = 0, signal: int = 0) -> None:
        self.code, self.signal = code, signal


class Runner:
    """One job from its enqueue to its end. `wait_s`: None for ever, 0 not at all."""

    def __init__(
        self, job: Job, argv: Sequence[str], signals: Signals, show: Show, *, wait_s: float | None, strict: bool,
        leftovers: str,
    ) -> None:  # fmt: skip
        self.job, self.argv, self.signals, self.show = job, argv, signals, show
        self.wait_s, self.strict, self.policy = wait_s, strict, leftovers
        self.contact = job.contact
        self._watched = -1

    # -- waiting

    def run(self) -> End:
        """Raises `Unavailable` with `strict`, and `ConfigError`."""
        try:
            end = self._enter()
        except (Unavailable, BoardFault) as error:
            if self.strict:
                raise Unavailable(str(error)) from None
            self.contact.faulty = True  # this line says so
            self._apart(f"{error}; running without coordination")
            end = None
        while end is None and self.job.state == "waiting":
            end = self._wait_on()
        self.show.quiet()
        self._tell()
        end = end or self._interrupted() or self._command()
        self._tell()
        return end

    def _enter(self) -> End | None:
        wait = self.wait_s is None or self.wait_s > 0
        answer = self.job.enqueue(wait=wait)
        while answer.verdict == "busy" and answer.settle_ms:
            end = self._idle(answer.settle_ms / 1000 + 0.005)
            if end is not None:
                return end
            answer = self.job.enqueue(wait=wait)
        self._tell()
        if answer.verdict == "knot":
            return self._refuse("this wait could never end: every slot is held by a job that waits for this one")
        if answer.verdict == "busy":
            return self._refuse(f"no slot of {self.job.queue} is free ({words.obstacle(self.job.busy)})")
        if self.job.state == "waiting":
            self._until = None if self.wait_s is None else time.monotonic() + self.wait_s
        return None

    def _idle(self, seconds: float) -> End | None:
        """Waits for time only; a signal that ends a waiting runner ends it."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            event = self.signals.wait(left)
            if event is not None and (end := self._taken_while_waiting(event)) is not None:
                return end
        return None

    def _wait_on(self) -> End | None:
        self._watch()
        due = self.job.pump()
        self._tell()
        if self.job.state == "over":
            return self._refuse(words.cancelled(self.job))
        if self.job.state != "waiting":
            return None
        if self.contact.lost_for > SERVERLESS_S:
            return self._give_up_on_server()
        self.show.waiting(self.job)
        if self._until is not None:
            left = self._until - time.monotonic()
            if left <= 0:
                self.job.leave()
                held = words.obstacle(self.job.waiting)
                return self._refuse(f"no slot of {self.job.queue} within {self.wait_s:g} s ({held})")
            due = min(due, left)
        event = self.signals.wait(min(due, 0.5 if self._watched >= 0 else 0.1))
        return self._taken_while_waiting(event) if event is not None else None

    def _give_up_on_server(self) -> End | None:
        if self.strict:
            raise Unavailable(f"no server for {SERVERLESS_S:g} s ({self.contact.server})")
        self._apart(f"no server for {SERVERLESS_S:g} s ({self.contact.server}); running without coordination")
        return None

    def _apart(self, text: str) -> None:
        self.show.quiet()
        self.show.notice(text)
        self.job.state = "apart"
        self.contact.lose()

    def _taken_while_waiting(self, event: Event) -> End | None:
        if event.signo in signal.ENDING:
            self.job.leave()
            return End(signal=event.signo)
        if event.signo == signal.SIGTSTP:
            self.signals.stop_self()
        return None

    def _interrupted(self) -> End | None:
        """Takes the signals that came while the board decided. With the slot in hand they still mean this runner: the
        command, which the terminal did not reach, would never hear of them."""
        while (event := self.signals.wait(0)) is not None:
            if event.signo in signal.ENDING:
                self.job.finish("signal", signal=event.signo)
                return End(signal=event.signo)
            if event.signo == signal.SIGTSTP:
                self.job.tell("stopped", within=STOP_S)
                self.signals.stop_self()
                self.job.tell("running")
        return None

    def _refuse(self, text: str) -> End:
        self.show.quiet()
        self.show.notice(text)
        return End(code=75)

    def _watch(self) -> None:
        """Has the connection raise SIGIO; after a reconnect it is another one, perhaps with the same number."""
        board = self.contact.board
        self._watched = board.link.fileno() if board is not None else -1
        if self._watched >= 0:
            self.signals.watch(self._watched)

    def _tell(self) -> None:
        for text in self.contact.told():
            self.show.quiet()
            self.show.notice(text)

    # -- running

    def _command(self) -> End:
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
        self._watch()
        due = self.job.pump()
        self._tell()
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
        if event.signo == signal.SIGTSTP:
            if not event.from_terminal:
                self.child.send(signal.SIGTSTP)
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
            OMP_COORD_SCOPE=self.contact.settings.scope, OMP_COORD_EPOCH=job.epoch,
        )  # fmt: skip
        return env

    def _excluded(self) -> set[int]:
        from coord.server.pids import server_pids

        return server_pids(self.contact.home)


def _limit_of(job: Job) -> float | None:
    """Seconds: the board's word, or without a board the shorter of what the file and the caller say."""
    if job.granted is not None:
        ms = job.granted.limit_ms
    else:
        known = [ms for ms in (job.limit_ms, job.queue_limit_ms) if ms is not None]
        ms = min(known, default=None)
    return None if ms is None else ms / 1000
