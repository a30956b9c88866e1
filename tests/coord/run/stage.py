"""What the tests of the runner's process side share: the driver on pipes or a terminal, and its log."""

from __future__ import annotations

import codecs
import os
import pty
import re
import select
import shlex
import signal
import subprocess
import sys
import uuid
from collections.abc import Sequence
from typing import Any

from coord.run import processes
from tests.waiting import until

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
COUNTER = [sys.executable, os.path.join(HERE, "counter.py")]
DRIVER = [sys.executable, "-S", os.path.join(HERE, "driver.py")]


def fresh_signals() -> None:
    """In a new process: all signals as a login shell has them, whatever the test run was started from."""
    for signo in (
        signal.SIGHUP,
        signal.SIGINT,
        signal.SIGQUIT,
        signal.SIGTERM,
        signal.SIGCHLD,
        signal.SIGTSTP,
    ):
        signal.signal(signo, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


class Stage:
    """One test's place: a folder, the driver's log, and a mark by which all its processes are found again."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.job = uuid.uuid4().hex
        self.log_path = os.path.join(folder, "driver.log")
        self.env = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": ROOT,
            "OMP_COORD_JOB": self.job,
            "DRIVER_LOG": self.log_path,
            "TERM": "dumb",
            "PS1": "ready> ",
            "LC_ALL": "C.UTF-8",
        }
        self.started: list[subprocess.Popen[str]] = []
        self.terminals: list[Terminal] = []

    def start(self, argv: Sequence[str], **options: Any) -> subprocess.Popen[str]:
        """A process on pipes, in a process group of its own."""
        options.setdefault("stdin", subprocess.PIPE)
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        options.setdefault("preexec_fn", fresh_signals)
        env = {**self.env, **options.pop("env", {})}
        proc = subprocess.Popen(list(argv), text=True, cwd=self.folder, env=env, start_new_session=True, **options)
        self.started.append(proc)
        return proc

    def drive(self, *words: str, **options: Any) -> subprocess.Popen[str]:
        """The driver with these options and this command."""
        return self.start([*DRIVER, *words], **options)

    def terminal(self) -> Terminal:
        """An interactive bash with job control on a terminal of its own."""
        terminal = Terminal(["bash", "--norc", "--noprofile", "-i"], self.env, self.folder)
        self.terminals.append(terminal)
        terminal.expect("ready> ")
        return terminal

    def log(self) -> list[str]:
        try:
            with open(self.log_path, encoding="utf-8") as file:
                return file.read().splitlines()
        except FileNotFoundError:
            return []

    def logged(self, words: str) -> str:
        """Wait for a line of the log that begins so."""
        return until(lambda: next((line for line in self.log() if line.startswith(words)), ""), f"log: {words}")

    def child(self) -> int:
        """The pid of the driver's command, once it runs."""
        return int(self.logged("started").split()[1])

    def members(self, name: str = "") -> list[processes.Proc]:
        """All living processes of this test, or those of that name."""
        return [proc for proc in processes.of_job(self.job) if name in ("", proc.name)]

    def close(self) -> None:
        for terminal in self.terminals:
            terminal.hang_up()
        until(self._all_killed, "all processes of the test are gone")
        for terminal in self.terminals:
            os.waitpid(terminal.pid, 0)
        for proc in self.started:
            proc.wait(60)
            for stream in (proc.stdin, proc.stdout, proc.stderr):
                if stream is not None:
                    stream.close()

    def _all_killed(self) -> bool:
        found = self.members()
        for proc in found:
            processes.send(proc, signal.SIGKILL)
        return not found


def state(pid: int) -> str:
    """The kernel's letter for what a process does, "" when there is none."""
    proc = processes.read(pid)
    return proc.state if proc else ""


def gone(pid: int) -> bool:
    return state(pid) in ("", "Z", "X")


def first_line(proc: subprocess.Popen[str]) -> str:
    """The next line of its output."""
    assert proc.stdout is not None
    return proc.stdout.readline().strip()


def line(*words: str) -> str:
    """A shell command line that starts the driver."""
    return shlex.join([*DRIVER, *words])


class Terminal:
    """A program on a pseudo-terminal, typed to and read like a user would."""

    def __init__(self, argv: Sequence[str], env: dict[str, str], folder: str) -> None:
        self.seen = ""
        self._text = codecs.getincrementaldecoder("utf-8")("replace")  # a read may end in the middle of a character
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            try:
                fresh_signals()
                os.chdir(folder)
                os.execvpe(argv[0], list(argv), env)
            finally:
                os._exit(127)

    def hang_up(self) -> None:
        """Closes the terminal. Once only: by then its descriptor may have become somebody else's."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    def type(self, text: str) -> None:
        os.write(self.fd, text.encode())

    def press(self, key: str, text: str) -> bool:
        """Type a key; does `text` come within half a second?"""
        self.type(key)
        try:
            self.expect(text, 0.5)
        except AssertionError:
            return False
        return True

    def expect(self, text: str | re.Pattern[str], timeout: float = 30) -> str:
        """Read until `text` comes; what came before it is returned and done with."""
        wanted = re.compile(re.escape(text)) if isinstance(text, str) else text

        def found() -> re.Match[str] | None:
            if select.select([self.fd], (), (), 0.05)[0]:
                try:
                    self.seen += self._text.decode(os.read(self.fd, 4096))
                except OSError as error:
                    if wanted.search(self.seen) is None:
                        raise AssertionError(f"{text!r} did not come before the end; seen: {self.seen!r}") from error
            return wanted.search(self.seen)

        try:
            match = wanted.search(self.seen) or until(found, repr(text), timeout, every=0)
        except AssertionError as error:
            raise AssertionError(f"{error}; seen: {self.seen!r}") from None
        before, self.seen = self.seen[: match.start()], self.seen[match.end() :]
        return before

    def read(self) -> str:
        """What has come so far, without waiting."""
        while select.select([self.fd], (), (), 0)[0]:
            try:
                self.seen += self._text.decode(os.read(self.fd, 4096))
            except OSError:
                break
        return self.seen
