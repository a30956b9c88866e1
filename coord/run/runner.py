"""`omp-coord run`, the loop: waits for the slot, runs the command, ends as it did.

What is decided is decided on the board (`job`); this file waits for it, and `command` runs what was waited for.
"""

from __future__ import annotations

import time

from coord.errors import BoardFault, Unavailable
from coord.run import child as children
from coord.run import signals as signal
from coord.run import words
from coord.run.command import STOP_S, Command, End, tell, watch
from coord.run.job import SERVERLESS_S

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from coord.run.job import Job
    from coord.run.show import Show
    from coord.run.signals import Event, Signals


class Runner:
    """One job from its enqueue to its end. `wait_s`: None for ever, 0 not at all."""

    def __init__(
        self, job: Job, argv: Sequence[str], signals: Signals, show: Show, *, wait_s: float | None, strict: bool,
        leftovers: str,
    ) -> None:  # fmt: skip
        self.job, self.argv, self.signals, self.show = job, argv, signals, show
        self.wait_s, self.strict, self.policy = wait_s, strict, leftovers
        self.contact = job.contact

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
        tell(self.show, self.job)
        end = end or self._interrupted() or self._command()
        tell(self.show, self.job)
        return end

    def _enter(self) -> End | None:
        wait = self.wait_s is None or self.wait_s > 0
        answer = self.job.enqueue(wait=wait)
        while answer.verdict == "busy" and answer.settle_ms:
            end = self._idle(answer.settle_ms / 1000 + 0.005)
            if end is not None:
                return end
            answer = self.job.enqueue(wait=wait)
        tell(self.show, self.job)
        if answer.verdict == "knot":
            return self._refuse("this wait could never end: every slot is held by a job that waits for this one")
        if answer.verdict == "busy":
            return self._refuse(f"no slot of {self.job.queue} is free ({words.obstacle(self.job.busy)})")
        if self.job.state == "waiting":
            children.prepare()
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
        watched = watch(self.signals, self.job)
        due = self.job.pump()
        tell(self.show, self.job)
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
        event = self.signals.wait(min(due, 0.5 if watched else 0.1))
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
        if event.signo in signal.STOPPING:
            self.signals.stop_self()
        return None

    def _interrupted(self) -> End | None:
        """Takes the signals that came while the board decided. With the slot in hand they still mean this runner: the
        command, which the terminal did not reach, would never hear of them."""
        while (event := self.signals.wait(0)) is not None:
            if event.signo in signal.ENDING:
                self.job.finish("signal", signal=event.signo)
                return End(signal=event.signo)
            if event.signo in signal.STOPPING:
                self.job.tell("stopped", within=STOP_S)
                self.signals.stop_self()
                self.job.tell("running")
        return None

    def _refuse(self, text: str) -> End:
        self.show.quiet()
        self.show.notice(text)
        return End(code=75)

    def _command(self) -> End:
        return Command(self.job, self.argv, self.signals, self.show, self.policy).run()
