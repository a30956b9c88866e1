"""A throw-away place to measure in: a home and a project of its own, its own embedded server, gone afterwards."""

from __future__ import annotations

import compileall
import json
import os
import shutil
import signal
import socket
import sys
import tempfile
import time
from typing import TYPE_CHECKING, Any

from bench import peers
from bench.waiting import until
from coord.board import Board
from coord.home import Home
from coord.server import embedded, pids
from coord.server.facts import facts
from coord.wire import connect

if TYPE_CHECKING:
    from types import TracebackType

    from coord.wire.link import Link

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SCOPE = "bench"
QUEUES = ("process", "eight", "handover", "managers", "pairs", "idle")


class Place:
    """While entered, an embedded server runs (of `program`, or the one omp-coord chooses) and `env` leads to it."""

    def __init__(self, program: str | None = None) -> None:
        self.folder = tempfile.mkdtemp(prefix="ocbench", dir="/tmp")
        self.project = os.path.join(self.folder, "project")
        kept = ("PATH", "HOME", "USER", "LANG", "LC_ALL", "TMPDIR")
        self.env = {name: os.environ[name] for name in kept if name in os.environ}
        self.env["OMP_COORD_HOME"] = os.path.join(self.folder, "home")
        if program:
            self.env["OMP_COORD_REDIS_SERVER"] = program
        self.home = Home.find(self.env)
        self.started: set[int] = set()

    def __enter__(self) -> Place:
        os.mkdir(self.project)
        queues = {name: {"slots": 1} for name in QUEUES}
        with open(os.path.join(self.project, ".omp-coord.json"), "w", encoding="ascii") as file:
            json.dump({"scope": SCOPE, "queues": queues}, file)
        for package in ("coord", "cli/omp_coord", "bench"):
            # As an installed package has them; this checkout may have been run without writing any.
            compileall.compile_dir(os.path.join(ROOT, package), quiet=2)
        self.url = embedded.start(self.home, self.env, wait=10.0).url
        if _somebody_on_6379():
            self.env["OMP_COORD_REDIS_URL"] = self.url  # that server would be chosen, and it is not ours to load
        self.link: Link = connect(self.url)  # type: ignore[assignment] # a unix socket is spoken to directly
        self.board = Board(self.link, SCOPE, fresh=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for pid in tuple(self.started):  # a row that gave up left them
            os.kill(pid, signal.SIGKILL)
            self.reap(pid)
        self.link.close()
        peers.stop_tsp(self.folder)
        known = pids.read(self.home)
        embedded.stop(self.home, force=True)
        for name in ("guard", "server"):
            if name in known and name in pids.read(self.home):
                os.kill(known[name], signal.SIGTERM)
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def server(self) -> str:
        """The server's kind and version."""
        from coord.server.choose import Choice

        return str(facts(self.home, SCOPE, Choice(self.url, True))["program"])

    def runner(self, queue: str, *command: str) -> list[str]:
        """The words of `omp-coord run`, as a user of this interpreter would have it started."""
        return self.command("run", "--quiet", queue, "--", *command)

    def command(self, *words: str) -> list[str]:
        """The words of an omp-coord command."""
        script = os.path.join(os.path.dirname(sys.executable), "omp-coord")
        start = [script] if os.path.exists(script) else [sys.executable, os.path.join(ROOT, "cli/bin/omp-coord")]
        return [*start, *words]

    def spawn(self, words: list[str], env: dict[str, str] | None = None, *, stdin: int = -1) -> int:
        """Starts a program in the project, its output thrown away; its pid."""
        actions: list[tuple[Any, ...]] = [
            (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
        ]
        if stdin >= 0:
            actions.append((os.POSIX_SPAWN_DUP2, stdin, 0))
        here = os.getcwd()
        os.chdir(self.project)  # posix_spawn knows no folder, and `sh -c cd` would be measured too
        try:
            path = words[0] if "/" in words[0] else shutil.which(words[0]) or words[0]
            pid = os.posix_spawn(path, words, {**self.env, **(env or {})}, file_actions=actions)
        finally:
            os.chdir(here)
        self.started.add(pid)
        return pid

    def reap(self, pid: int) -> int:
        """Waits for a process that `spawn` started; its exit code, negative for a signal."""
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        self.started.discard(pid)
        return code

    def seconds(self, words: list[str], env: dict[str, str] | None = None, *, times: int = 1) -> float:
        """From the start of that many processes at once to the end of the last. RuntimeError when one fails."""
        begun = time.perf_counter()
        started = [self.spawn(words, env) for _ in range(times)]
        codes = [self.reap(pid) for pid in started]
        took = time.perf_counter() - begun
        if any(codes):
            raise RuntimeError(f"{' '.join(words)} ended with {codes}")
        return took

    def waiting(self, queue: str) -> int:
        """How many jobs wait in a queue."""
        count = self.link.call("ZLEXCOUNT", self.board.keys["WAITING"], f"[q|{queue}|", f"(q|{queue}|\xff")
        return int(str(count))

    def held(self, queue: str) -> tuple[int, int]:
        """Takes a queue's slot by a runner that holds it until the second value, a descriptor, is closed; its pid."""
        read, write = os.pipe()
        os.set_inheritable(read, False)
        pid = self.spawn(self.runner(queue, "cat"), stdin=read)
        os.close(read)
        running = self.board.keys["RUNNING"]
        span = f"[q|{queue}|", f"(q|{queue}|\xff"
        until(lambda: self.link.call("ZLEXCOUNT", running, *span) == 1, f"the slot of {queue} is held")
        return pid, write

    def reset(self) -> None:
        """Starts counting commands anew."""
        self.link.call("CONFIG", "RESETSTAT")

    def scripts(self) -> tuple[int, float]:
        """Calls of scripts since `reset`, and their whole time on the server in µs."""
        return stat(self.link, "evalsha")


def stat(link: Link, command: str) -> tuple[int, float]:
    """Calls and µs of one command, from INFO commandstats."""
    for text in str(link.call("INFO", "commandstats")).splitlines():
        if text.startswith(f"cmdstat_{command}:"):
            values = dict(part.split("=") for part in text.partition(":")[2].split(","))
            return int(values["calls"]), float(values["usec"])
    return 0, 0.0


def _somebody_on_6379() -> bool:
    with socket.socket() as probe:
        probe.settimeout(0.2)
        return probe.connect_ex(("127.0.0.1", 6379)) == 0
