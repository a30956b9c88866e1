"""A user's machine for one test: a home with omp in it, a project, a state folder, a scripted model, and the plugin.

Nothing of it is shared with another test, and nothing of it is left: every process carries the place's mark.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from typing import Any

import psutil

from tests.cli.den import ROOT, Den
from tests.cli.place import Place
from tests.host.board import BoardView
from tests.host.install import OmpHost
from tests.host.model import Model, models_yml
from tests.host.omp import ENTRY, Omp, words
from tests.host.terminal import Screen
from tests.waiting import until

PROBE = f"{ROOT}/tests/host/probe.ts"


class World:
    """`board` is the project's board, `model` what the agents' models are. `config` writes the project's file."""

    def __init__(self, den: Den, model: Model, host: OmpHost) -> None:
        self.den, self.model, self.host = den, model, host
        self.place = Place(den)
        self.board = BoardView(self.place)
        self.sessions: list[Omp] = []
        os.makedirs(f"{den.folder}/.omp/agent")
        with open(f"{den.folder}/.omp/agent/models.yml", "w", encoding="utf-8") as file:
            file.write(models_yml(model.url))
        self.env = {**self.place.env, "NO_COLOR": "1", "OMP_COORD_BIN": den.command}

    @property
    def project(self) -> str:
        return self.place.folder

    def config(self, cap: int = 2, queues: dict[str, Any] | None = None, commands: Any = None, **rules: Any) -> None:
        """The project's file: a pool `work` of this cap, further rules of `agents`, queues and rules for commands."""
        more = {} if commands is None else {"commands": commands}
        agents = {"pools": {"work": {"cap": cap}}, **rules}
        self.place.config(agents=agents, queues=queues or {"q": {"slots": 1}}, **more)

    # -- omp

    def start(self, *, cwd: str | None = None, plugin: bool = True, probe: bool = False, **env: str) -> Omp:
        """An omp that is still starting."""
        extensions = words([ENTRY] * plugin + [PROBE] * probe)
        stderr = f"{self.den.folder}/omp-{len(self.sessions)}.stderr"
        omp = Omp([*self.host.command, *extensions], cwd or self.project, {**self.env, **env}, stderr)
        self.sessions.append(omp)
        return omp

    def session(self, label: str = "A", **options: Any) -> Omp:
        """An omp whose session is on the board under this letter."""
        omp = self.start(**options).ready()
        until(lambda: omp.footer.startswith(f"coord {label}"), f"the footer says session {label}", 60)
        return omp

    def screen(self, prompt: str) -> Screen:
        """An omp in a terminal, whose user says this first."""
        with open(f"{self.den.folder}/.omp/agent/config.yml", "w", encoding="utf-8") as file:
            file.write("setupVersion: 1000\n")  # nothing is left to set up
        return Screen(self.place, [*self.host.command, *words([ENTRY]), prompt], self.env, self.project)

    def two(self, **options: Any) -> tuple[Omp, Omp]:
        """Two sessions, A and B. They start together, B joins after A has."""
        first, second = self.start(**options), self.start(**options)
        first.ready()
        second.ready()
        until(lambda: first.footer and second.footer, "both have a footer", 60)
        if "coord B" in first.footer:
            first, second = second, first
        return first, second

    def omp(self, *words: str, timeout: float = 300) -> str:
        """What `omp WORDS` prints, as a command of its own; it finds bun on its PATH."""
        env = {**self.env, "PATH": f"{os.path.dirname(self.host.bun)}:{self.env['PATH']}"}
        ended = subprocess.run(
            [*self.host.command, *words], cwd=self.project, env=env, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=timeout, check=False,
        )  # fmt: skip
        assert ended.returncode == 0, (words, ended.stdout, ended.stderr)
        return ended.stdout

    # -- processes

    def bridges(self) -> list[psutil.Process]:
        """The bridges that live."""
        found = []
        for one in self.place.members():
            with contextlib.suppress(psutil.NoSuchProcess):
                if "bridge" in one.cmdline()[2:3]:
                    found.append(one)
        return found

    def bridge_of(self, label: str) -> int:
        """The process of a session's bridge, as the board knows it."""
        return int(self.board.sessions()[label]["bridge"]["pid"])

    def account(self) -> str:
        """What the bridges, the plugin and omp wrote into their logs, for whoever looks into a failure."""
        texts = [omp.complaints() for omp in self.sessions]
        for folder, _, names in os.walk(self.den.env["OMP_COORD_HOME"]):
            for name in names:
                if name.endswith(".log"):
                    with open(f"{folder}/{name}", encoding="utf-8", errors="replace") as file:
                        texts.append(file.read())
        return "\n".join(texts)

    def close(self) -> None:
        self.place.close()
        for omp in self.sessions:
            omp.process.wait(90)
            for stream in (omp.process.stdin, omp.process.stdout):
                if stream is not None:
                    stream.close()
