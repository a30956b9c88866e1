"""What the tests of `omp-coord run` share: places in a den, each with a scope of its own.

A place has a folder, a configuration and the den's command `omp-coord` on its PATH, so that tests type what a user
types. Everything started in it carries a mark in its environment, by which all of it is found and ended afterwards.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import uuid
from collections.abc import Sequence
from typing import Any

import psutil

from coord.board import Board
from coord.config.load import load
from coord.errors import ConfigError
from coord.keys import Keys
from coord.wire import connect
from tests.boards import unique_scope
from tests.cli.den import Den
from tests.coord.run.stage import Terminal, fresh_signals
from tests.waiting import until

ENOUGH_S = 90.0
"""Nobody's promise: so long is waited for what surely comes, before a test fails."""


class Place:
    """One test's working folder in a den, on a scope of its own. `url` names a server; without it the embedded is used.

    `queues` go into `.omp-coord.json`, by default `q` with one slot; `config` are further fields of it.
    """

    def __init__(self, den: Den, url: str | None = None) -> None:
        self.den, self.url, self.scope = den, url, unique_scope()
        den.places.append(self)
        self.mark = uuid.uuid4().hex
        self.folder = f"{den.folder}/{self.scope}"
        os.mkdir(self.folder)
        self.env = {**den.env, "TEST_PLACE": self.mark}
        if url:
            self.env["OMP_COORD_REDIS_URL"] = url
        self.started: list[subprocess.Popen[str]] = []
        self.terminals: list[Terminal] = []
        self._board: Board | None = None
        self.queues(q={"slots": 1})

    # -- what the user has

    def queues(self, **queues: dict[str, Any]) -> None:
        self.config(queues=queues)

    def config(self, **fields: Any) -> None:
        """Writes the configuration, whole or not at all, and has it validated: a cold cache costs each test 0.3 s."""
        self.write(".omp-coord.json", json.dumps({"scope": self.scope, "queues": {"q": {"slots": 1}}, **fields}))
        with contextlib.suppress(ConfigError):
            load(self.folder, self.env, self.den.home)

    def write(self, name: str, text: str) -> str:
        path = self.path(name)
        with open(path + ".new", "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(path + ".new", path)
        return path

    def path(self, name: str) -> str:
        return f"{self.folder}/{name}"

    def read(self, name: str) -> str:
        """The content of a file of the place, "" when there is none."""
        try:
            with open(self.path(name), encoding="utf-8", errors="surrogateescape") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def lines(self, name: str) -> list[str]:
        return self.read(name).splitlines()

    # -- starting

    def start(self, *argv: str, **options: Any) -> subprocess.Popen[str]:
        """A process on pipes, in a session of its own."""
        for stream in ("stdout", "stderr"):
            options.setdefault(stream, subprocess.PIPE)
        options.setdefault("stdin", subprocess.DEVNULL)
        options.setdefault("preexec_fn", fresh_signals)
        options.setdefault("cwd", self.folder)
        env = {**self.env, **options.pop("env", {})}
        options.setdefault("start_new_session", True)
        proc = subprocess.Popen(list(argv), text=True, env=env, errors="surrogateescape", **options)
        self.started.append(proc)
        return proc

    def run(self, *words: str, **options: Any) -> subprocess.Popen[str]:
        """`omp-coord run WORDS`."""
        return self.start(self.den.command, "run", *words, **options)

    def sh(self, script: str, **options: Any) -> subprocess.Popen[str]:
        """A bash script, in which `omp-coord` is on the PATH."""
        return self.start("bash", "-c", script, **options)

    def terminal(self) -> Terminal:
        """An interactive bash with job control on a terminal of its own."""
        terminal = Terminal(["bash", "--norc", "--noprofile", "-i"], self.env, self.folder)
        self.terminals.append(terminal)
        terminal.expect("ready> ")
        return terminal

    def gate(self, name: str = "gate") -> Gate:
        return Gate(self, name)

    def held(self, *options: str, queue: str = "q") -> Gate:
        """A gate at which a job waits that holds a slot of the queue."""
        gate = Gate(self, f"held-{uuid.uuid4().hex}")
        self.run("--quiet", *options, queue, "--", *gate.command())
        gate.waits()
        return gate

    # -- the board

    @property
    def board(self) -> Board:
        """The board as the test itself sees it, on a connection that is made anew when it broke."""
        if self._board is not None:
            try:
                self._board.link.call("PING")
                return self._board
            except Exception:
                self._board.link.close()
        self._board = Board(connect(self.url or f"unix://{self.den.home.socket()}"), self.scope)
        return self._board

    def redis(self, *words: object) -> Any:
        return self.board.link.call(*words)

    def jobs(self, *states: str) -> list[dict[str, Any]]:
        """The jobs on the board, by ticket, or those in these states."""
        found = [json.loads(text) for text in self.redis("HVALS", Keys(self.scope)["JOBS"])]
        return sorted(
            (job for job in found if not states or job["state"] in states), key=lambda job: str(job["ticket"])
        )

    def until_jobs(self, count: int, *states: str) -> list[dict[str, Any]]:
        """The jobs in these states once there are that many."""
        until(lambda: len(self.jobs(*states)) == count, f"{count} jobs {states}", ENOUGH_S)
        return self.jobs(*states)

    def ended(self) -> dict[str, dict[str, Any]]:
        """How jobs ended, by their ids."""
        flat = self.redis("HGETALL", Keys(self.scope)["ENDED"])
        pairs = flat.items() if isinstance(flat, dict) else zip(flat[::2], flat[1::2], strict=True)
        return {job: json.loads(how) for job, how in pairs}

    def outcomes(self) -> list[str]:
        """The outcomes of all finished jobs, oldest first."""
        finished = sorted(self.ended().values(), key=lambda how: how["at"])
        return [how["outcome"] for how in finished if how["how"] == "finished"]

    def events(self, kind: str) -> list[dict[str, str]]:
        found = []
        for _, flat in self.redis("XRANGE", Keys(self.scope)["EVENTS"], "-", "+"):
            event = dict(zip(flat[::2], flat[1::2], strict=True))
            if event["type"] == kind:
                found.append(event)
        return found

    def left(self) -> dict[str, Any]:
        """What stands on the board of jobs: by key, what is there."""
        keys = Keys(self.scope)
        counts = {name: self.redis("HLEN", keys[name]) for name in ("JOBS",)}
        names = ("LEASES", "DEADLINES", "WAITING", "RUNNING", "TURNS", "NEST", "POLICY_USE")
        counts |= {name: self.redis("ZCARD", keys[name]) for name in names}
        return {name: count for name, count in counts.items() if count}

    def expect_empty(self) -> None:
        """Nothing of any job is left on the board."""
        until(lambda: not self.left(), f"nothing is left on the board ({self.left()})")

    # -- the end

    def members(self) -> list[psutil.Process]:
        """All living processes of this place."""
        found = []
        for proc in psutil.process_iter():
            with contextlib.suppress(psutil.Error, OSError):
                if proc.environ().get("TEST_PLACE") == self.mark and proc.status() != psutil.STATUS_ZOMBIE:
                    found.append(proc)
        return found

    def close(self) -> None:
        if self not in self.den.places:
            return
        self.den.places.remove(self)
        for terminal in self.terminals:
            with contextlib.suppress(OSError):
                terminal.hang_up()
        until(self._all_killed, "all processes of the test are gone", ENOUGH_S)
        for terminal in self.terminals:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(terminal.pid, 0)
        for proc in self.started:
            proc.wait(ENOUGH_S)
            for stream in (proc.stdin, proc.stdout, proc.stderr):
                if stream is not None:
                    with contextlib.suppress(OSError):
                        stream.close()
        if self._board is not None:
            self._board.link.close()

    def _all_killed(self) -> bool:
        found = self.members()
        for proc in found:
            with contextlib.suppress(psutil.Error):
                proc.kill()
        return not found


class Gate:
    """A command that writes its pid to the file `<name>.up`, waits until the gate is opened, and ends with `code`."""

    def __init__(self, place: Place, name: str) -> None:
        self.place, self.name = place, name
        os.mkfifo(place.path(name))

    def command(self, code: int = 0, before: str = ":") -> list[str]:
        script = f"{before}; echo $$ >>{self.name}.up; read -r _ <{self.name}; exit {code}"
        return ["bash", "-c", script]

    def waits(self) -> int:
        """The pid of the command that has come to the gate first, once one has."""
        return int(until(lambda: self.place.lines(f"{self.name}.up"), f"a command is at {self.name}", ENOUGH_S)[0])

    def open(self) -> None:
        """Lets the command through (every one that waits here: give each a gate of its own)."""
        path = self.place.path(self.name)

        def opened() -> bool:
            try:
                os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
            except OSError:
                return False
            return True

        until(opened, f"somebody waits at {self.name}", ENOUGH_S)


def code_of(proc: subprocess.Popen[str], timeout: float = ENOUGH_S) -> int:
    """Its exit code once it has ended; negative for a signal."""
    return proc.wait(timeout)


def output(proc: subprocess.Popen[str], timeout: float = ENOUGH_S) -> tuple[str, str]:
    """All it writes to stdout and stderr until both are closed."""
    out, err = proc.communicate(timeout=timeout)
    return out, err


def finished(proc: subprocess.Popen[str], code: int, timeout: float = ENOUGH_S) -> tuple[str, str]:
    """What it wrote, after it has ended with `code` (negative: by that signal)."""
    out, err = output(proc, timeout)
    assert proc.returncode == code, (proc.returncode, out, err)
    assert "Traceback" not in err
    return out, err


def one_line(err: str) -> str:
    """The one line that `err` must be, without its prefix."""
    lines = err.splitlines()
    assert len(lines) == 1, err
    assert lines[0].startswith("omp-coord: "), err
    return lines[0].removeprefix("omp-coord: ")


MARKS = re.compile(r"^([+-]) (\S+)$")


def most_at_once(lines: Sequence[str]) -> int:
    """The most jobs that ran together, by the marks `+ id` and `- id` that they wrote themselves, each in one write."""
    now = most = 0
    for line in lines:
        found = MARKS.match(line)
        assert found, line
        now += 1 if found[1] == "+" else -1
        most = max(most, now)
    return most


def marked(work: str = ":") -> list[str]:
    """A command that writes its marks to `marks` around `work`."""
    return ["sh", "-c", f'echo "+ $OMP_COORD_JOB" >>marks; {work}; echo "- $OMP_COORD_JOB" >>marks']
