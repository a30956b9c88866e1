"""A folder with a configuration and a board of its own, in which the command runs inside the test's own process: quick,
and its jobs are whatever the test says. (`place` is for whole processes.)"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from typing import Any

import pytest

from coord import __version__
from coord.answers import Answer
from coord.board import Board
from coord.config.load import load
from coord.config.settings import Settings
from coord.home import Home
from coord.machine import machine_id, start_of
from omp_coord import app
from tests.boards import real_board, record, unique_scope
from tests.servers import Server, short_folder

CONFIG: dict[str, Any] = {
    "agents": {"pools": {"work": {"cap": 2}}},
    "queues": {
        "lint": {"slots": 2},
        "test": {"slots": 1, "lanes": {"quick": {"priority": 10}, "slow": {"priority": -5, "max": 1}}},
    },
}


class Desk:
    """A folder `work` with a configuration of a scope of its own; `board` is that scope's, which has settled already."""

    def __init__(self, server: Server, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
        self.server, self._monkeypatch, self._capfd = server, monkeypatch, capfd
        self.scope = unique_scope()
        self.folder = short_folder()
        self.work = os.path.join(self.folder, "work")
        os.mkdir(self.work)
        self.configure(CONFIG)
        for name in [name for name in os.environ if name.startswith("OMP_COORD")]:
            monkeypatch.delenv(name)
        for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "CI"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("OMP_COORD_HOME", os.path.join(self.folder, "home"))
        monkeypatch.setenv("OMP_COORD_REDIS_URL", server.url)
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.chdir(self.work)
        self.processes: list[subprocess.Popen[str]] = []
        self.board: Board = real_board(server.url, self.scope, machine=machine_id())
        self.board.board_sweep()

    def configure(self, config: dict[str, Any], folder: str | None = None) -> str:
        path = os.path.join(folder or self.work, ".omp-coord.json")
        with open(path, "w") as file:
            json.dump({"scope": self.scope, **config}, file)
        return path

    @property
    def settings(self) -> Settings:
        return load(os.getcwd(), os.environ, Home.find(os.environ))

    def cli(self, *words: str, code: int = 0) -> tuple[str, str]:
        """Runs the command here; stdout and stderr."""
        self._capfd.readouterr()
        self._monkeypatch.setattr(sys, "argv", ["omp-coord", *words])
        try:
            ended = app.main()
        except SystemExit as error:
            ended = error.code if isinstance(error.code, int) else 1
        out, err = self._capfd.readouterr()
        assert ended == code, (out, err)
        return out, err

    def json(self, *words: str) -> dict[str, Any]:
        return json.loads(self.cli(*words)[0])  # type: ignore[no-any-return]

    def process(self, argv: list[str], **options: Any) -> subprocess.Popen[str]:
        process = subprocess.Popen(argv, text=True, **options)
        self.processes.append(process)
        return process

    def job(self, id: str, queue: str = "lint", lane: str = "default", *, pid: int = 0, **fields: Any) -> Answer:
        """Asks for a slot as a runner with that pid does (without one: as this very process)."""
        settings, pid = self.settings, pid or os.getpid()
        text = record(id, pid=pid, start=start_of(pid) or "0", **fields)
        answer = self.board.job_enqueue(
            id, queue, lane, owner=fields.pop("owner", "ann"), policy=settings.policy, policy_json=settings.policy_json,
            record=text,
        )  # fmt: skip
        self._in_time(f"j|{id}")
        return answer

    def session(self, id: str, cwd: str = "/home/ann/app", *, pid: int = 0, bridge: int = 0, **fields: Any) -> str:
        """Joins as a bridge does, for a host with that pid (without one: this very process); its letter."""
        settings, pid = self.settings, pid or os.getpid()
        process = {"pid": pid, "start": start_of(pid) or "0", "instance": id}
        sent: dict[str, Any] = {"cwd": cwd, "process": process, "version": __version__, **fields}
        if bridge:
            sent["bridge"] = {"pid": bridge, "start": start_of(bridge) or "0"}
        answer = self.board.session_join(
            id, f"host-{id}", policy=settings.policy, policy_json=settings.policy_json, agents="[]",
            record=json.dumps(sent),
        )  # fmt: skip
        self._in_time(f"s|{id}")
        return answer.fields["label"]

    def _in_time(self, member: str) -> None:
        """Nobody beats here: without this it would be late after 3 s, which a slow test may well take."""
        self.board.link.call("ZADD", self.board.keys.leases, "XX", int(time.time() * 1000) + 60_000, member)

    def spawn(self, session: str, slot: str, type: str = "task", *, parent: str = "Main", kind: str = "main") -> Answer:
        """Asks for a slot; the agent's id is the slot's in capitals."""
        return self.board.spawn_request(
            session, slot, parent=parent, parent_kind=kind, type=type, key=slot.upper()
        )  # fmt: skip

    def runs(self, session: str, slot: str, type: str = "task", *, parent: str = "Main", kind: str = "main") -> Answer:
        """An agent's start, approved or not."""
        return self.board.agent_started(session, slot, slot.upper(), parent=parent, parent_kind=kind, type=type)

    def dead_pid(self) -> int:
        """The pid of a process that was there a moment ago."""
        process = subprocess.Popen(["true"])
        process.wait()
        return process.pid

    def close(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream is not None:
                    stream.close()
        self.board.link.call("DEL", *self.board.keys.all())
        self.board.link.close()
        shutil.rmtree(self.folder, ignore_errors=True)
