"""The smallest runner: what `omp-coord run` does with a command, without a board. A script for the tests.

Usage: driver.py [--portable] [--limit SECONDS] [--grace SECONDS] [--leftovers POLICY] COMMAND [ARG…]
USR2 makes the time limit strike at once. What happens is written to the file DRIVER_LOG, a line each.
"""

from __future__ import annotations

import os
import sys
import time

from coord.run.child import Child, SpawnError, become_subreaper, spawn
from coord.run.signals import (
    ENDING,
    FORWARDED,
    SIGCHLD,
    SIGTSTP,
    SIGUSR2,
    Event,
    Signals,
    die_by,
    in_foreground,
)
from coord.run.tree import Ending, Tree, after, leftovers

LOG = os.open(os.environ.get("DRIVER_LOG", os.devnull), os.O_WRONLY | os.O_APPEND | os.O_CREAT)


def log(*words: object) -> None:
    os.write(LOG, (" ".join(map(str, words)) + "\n").encode())


class Driver:
    def __init__(self, options: dict[str, str], signals: Signals, child: Child) -> None:
        self.signals = signals
        self.child = child
        self.tree = Tree()
        self.grace = float(options.get("grace", "10"))
        self.limit_at = child.started + float(options["limit"]) if "limit" in options else None
        self.ending: Ending | None = None

    def run(self) -> None:
        while True:
            self.child.poll()
            timeout = self.next_tick(time.monotonic())
            if self.child.status is not None and (self.ending is None or self.ending.done):
                return
            event = self.signals.wait(timeout)
            if event is not None:
                self.handle(event)

    def next_tick(self, now: float) -> float | None:
        if self.ending is None and self.limit_at is not None and now >= self.limit_at:
            self.ending = Ending(self.tree.alive, self.grace)
            log("limit")
        if self.ending is not None:
            return self.ending.tick(now)
        return None if self.limit_at is None else self.limit_at - now

    def handle(self, event: Event) -> None:
        if event.signo == SIGCHLD:
            self.child.poll()
            if self.child.has_stopped() and in_foreground():
                log("follows")
                self.signals.stop_self()
            return
        if event.signo == SIGUSR2:
            self.limit_at = 0.0
        elif event.signo in FORWARDED and not event.from_terminal:
            self.child.send(event.signo)
        log("event", event.signo, "terminal" if event.from_terminal else event.pid)
        if event.signo == SIGTSTP:
            self.signals.stop_self()
            self.child.poll()
            self.child.has_stopped()  # the command's part of this very stop is no news
            log("continued")

    def settle(self, policy: str) -> None:
        found = leftovers(self.tree)
        log("leftovers", *sorted(proc.name for proc in found))
        step = after(policy, self.tree, self.grace) if found else None
        while step is not None and (timeout := step.tick(time.monotonic())) is not None:
            event = self.signals.wait(timeout)
            self.child.poll()
            if event is not None and event.signo in ENDING:
                die_by(event.signo)


def main(words: list[str]) -> int:
    options: dict[str, str] = {}
    while words[0].startswith("--"):
        name = words.pop(0)[2:]
        options[name] = "yes" if name == "portable" else words.pop(0)
    with Signals(portable="portable" in options) as signals:
        become_subreaper()
        try:
            child = spawn(words, os.environ, signals)
        except SpawnError as error:
            sys.stderr.write(f"{error}\n")
            return error.exit_code
        log("started", child.pid)
        driver = Driver(options, signals, child)
        driver.run()
        driver.settle(options.get("leftovers", "keep"))
        if driver.ending is not None:
            return 124
        if child.term_signal is not None:
            die_by(child.term_signal)
    return child.exit_code or 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
