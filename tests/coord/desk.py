"""A place for Python programs that use `coord.Coordinator`: a folder with a configuration, a home and a server."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from coord.board import Board
from coord.config.load import load
from coord.coordinator import Coordinator
from coord.errors import ConfigError
from coord.home import Home
from coord.keys import Keys
from coord.slot import Slot
from coord.wire import connect
from tests.boards import unique_scope
from tests.waiting import until

ENOUGH_S = 90.0
"""Nobody's promise: so long is waited for what surely comes, before a test fails."""
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Desk:
    """A scope of its own in `folder`. With `url` its file names that server and its board is made; without, the
    embedded server of this home is used."""

    def __init__(self, folder: str, monkeypatch: pytest.MonkeyPatch, url: str | None = None, **config: Any) -> None:
        self.folder, self.url, self.scope = folder, url, unique_scope()
        self.keys = Keys(self.scope)
        for name in [name for name in os.environ if name.startswith("OMP_COORD")]:
            monkeypatch.delenv(name)
        monkeypatch.setenv("OMP_COORD_HOME", folder + "/home")
        self.settings: dict[str, Any] = {"queues": {"q": {"slots": 1}, "two": {"slots": 2}, "other": {"slots": 1}}}
        self.configure(**config)
        self.coordinators: list[Coordinator] = []
        if url:
            with contextlib.closing(connect(url)) as link:
                Board(link, self.scope, fresh=True).board_sweep()

    def configure(self, **config: Any) -> None:
        """Writes the configuration; fields that are not named stay as they are."""
        self.settings.update(config)
        redis = {"redis": {"url": self.url}} if self.url else {}
        path = f"{self.folder}/.omp-coord.json"
        with open(path + ".new", "w", encoding="utf-8") as file:
            json.dump({"scope": self.scope, **redis, **self.settings}, file)
        os.replace(path + ".new", path)
        with contextlib.suppress(ConfigError):  # a cold cache costs each program of the test 0.3 s
            load(self.folder, os.environ, Home.find(os.environ))

    def coordinator(self, **options: Any) -> Coordinator:
        """A coordinator of this folder, closed at the end."""
        made = Coordinator.from_cwd(self.folder, **options)
        self.coordinators.append(made)
        return made

    def python(self, script: str, *words: str, **options: Any) -> subprocess.Popen[str]:
        """A program of its own that runs `script` in the folder."""
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        env = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT}/cli"}
        return subprocess.Popen([sys.executable, "-c", script, *words], cwd=self.folder, env=env, text=True, **options)

    def ask(self, *words: object) -> Any:
        with contextlib.closing(connect(self.url or self.coordinators[0]._idle[0].server)) as link:
            return link.call(*words)

    def jobs(self, *states: str) -> list[dict[str, Any]]:
        """The jobs on the board, by ticket, or those in these states."""
        found = [json.loads(text) for text in self.ask("HVALS", self.keys["JOBS"])]
        return sorted((job for job in found if not states or job["state"] in states), key=lambda job: job["ticket"])

    def until_jobs(self, count: int, *states: str) -> list[dict[str, Any]]:
        until(lambda: len(self.jobs(*states)) == count, f"{count} jobs {states}", ENOUGH_S)
        return self.jobs(*states)

    def outcome(self, job: str) -> dict[str, Any]:
        """How a job ended."""
        ended: dict[str, Any] = json.loads(self.ask("HGET", self.keys["ENDED"], job))
        return ended

    def left(self) -> dict[str, Any]:
        """What stands on the board of jobs: by key, what is there."""
        names = ("LEASES", "DEADLINES", "WAITING", "RUNNING", "TURNS", "NEST", "POLICY_USE")
        counts = {name: self.ask("ZCARD", self.keys[name]) for name in names}
        return {name: count for name, count in counts.items() if count} | ({"JOBS": self.jobs()} if self.jobs() else {})

    def expect_empty(self) -> None:
        until(lambda: not self.left(), f"nothing is left on the board ({self.left()})")

    def board(self) -> Board:
        """The board as another participant sees it."""
        assert self.url
        return Board(connect(self.url), self.scope)

    def close(self) -> None:
        for coordinator in self.coordinators:
            coordinator.close()


class Taker(threading.Thread):
    """A thread that takes a slot and keeps it until told to leave. `had`: it has it; `error`: what came instead."""

    def __init__(self, slot: Slot) -> None:
        super().__init__(daemon=True)
        self.slot, self.error = slot, None
        self.had, self.leave, self.over = threading.Event(), threading.Event(), threading.Event()
        self.fence = 0
        self.start()

    slot: Slot
    error: BaseException | None

    def run(self) -> None:
        try:
            with self.slot as slot:
                self.fence = slot.fence
                self.had.set()
                self.leave.wait(600)
        except BaseException as error:
            self.error = error
        finally:
            self.over.set()

    def wait_had(self) -> None:
        until(lambda: self.had.is_set() or self.over.is_set(), "the thread has its slot", ENOUGH_S)
        assert self.error is None, "".join(traceback.format_exception(self.error))

    def end(self) -> None:
        self.leave.set()
        assert self.over.wait(ENOUGH_S), "the thread gave its slot back"
        if self.error is not None:
            raise self.error


@contextlib.contextmanager
def taken(slot: Slot) -> Iterator[Taker]:
    """Another thread has that slot."""
    taker = Taker(slot)
    taker.wait_had()
    try:
        yield taker
    finally:
        taker.end()


def in_thread(work: Callable[[], Any]) -> Any:
    """What `work` returns or raises when another thread does it."""
    found: list[Any] = []

    def run() -> None:
        try:
            found.extend((work(), None))
        except BaseException as error:
            found.extend((None, error))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(ENOUGH_S)
    assert found, "the thread came to an end"
    if found[1] is not None:
        raise found[1]
    return found[0]


def took(coordinator: Coordinator, queue: str = "q") -> bool:
    """Takes a slot at once and gives it back; whether it was coordinated. Raises `WaitTimeout`."""
    with coordinator.slot(queue, wait=0) as slot:
        return slot.coordinated
