"""Sessions of the real omp to measure in, with and without the plugin, on a scripted model."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from bench.place import ROOT
from tests.host.install import NoHost, OmpHost, present
from tests.host.model import Model, models_yml, serving
from tests.host.omp import ENTRY, Omp, words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.place import Place

FIRST, LAST = (f"{ROOT}/bench/omp/{name}.ts" for name in ("first", "last"))
CAP = 64
"""So many slots that nothing is ever refused here."""
RULES = [{"pattern": r"\bgit\s+push\b", "action": "refuse", "reason": "the user pushes"}]
"""With a rule each bash command is looked at."""


class Sessions:
    """A home and a project for omp in a place. `times` is the file into which omp's extensions write."""

    def __init__(self, place: Place, host: OmpHost, model: Model) -> None:
        self._host, self.model = host, model
        self.folder = os.path.join(place.folder, "omp")
        self.project = os.path.join(self.folder, "project")
        self.times = os.path.join(self.folder, "times")
        for folder in (self.project, f"{self.folder}/.omp/agent"):
            os.makedirs(folder)
        _write(f"{self.folder}/.omp/agent/models.yml", models_yml(model.url))
        config = {"scope": "bench-omp", "agents": {"pools": {"work": {"cap": CAP}}}, "commands": RULES}
        _write(f"{self.project}/.omp-coord.json", json.dumps(config))
        script = os.path.join(os.path.dirname(sys.executable), "omp-coord")
        self._env = {**place.env, "HOME": self.folder, "OMP_COORD_BIN": script, "BENCH_TIMES": self.times}
        # The file is valid and the server runs, as for all but the first session of a day.
        subprocess.run([script, "status"], cwd=self.project, env=self._env, stdout=subprocess.DEVNULL, check=True)

    def start(self, *, plugin: bool, timed: bool = False) -> Omp:
        """An omp that is still starting. `timed`: its extensions write how long they are asked for."""
        extensions = [FIRST] * timed + [ENTRY] * plugin + [LAST] * timed
        return Omp([*self._host.command, *words(extensions)], self.project, self._env, f"{self.folder}/stderr")

    def held_up(self, what: str) -> list[float]:
        """The times in ms that were written since the last time this was asked."""
        with contextlib.suppress(FileNotFoundError):
            with open(self.times, encoding="ascii") as file:
                lines = [line.split() for line in file]
            os.unlink(self.times)
            return [float(took) for name, took in lines if name == what]
        return []


@contextlib.contextmanager
def sessions(place: Place) -> Iterator[Sessions]:
    """RuntimeError when there is no omp on this machine."""
    try:
        host = present(os.environ)
    except NoHost as missing:
        raise RuntimeError(str(missing)) from None
    with serving() as model:
        found = Sessions(place, host, model)
        try:
            yield found
        finally:
            shutil.rmtree(found.folder, ignore_errors=True)


@contextlib.contextmanager
def ended(omp: Omp) -> Iterator[Omp]:
    """Ends the session afterwards, whatever happened."""
    try:
        yield omp
    finally:
        try:
            omp.quit()
        except Exception:
            omp.kill()


def until_asked(model: Model, count: int, timeout: float = 60) -> float:
    """When the model had been asked that often."""
    deadline = time.monotonic() + timeout
    while len(model.asked) < count:
        if time.monotonic() > deadline:
            raise TimeoutError(f"the model was not asked {count} times within {timeout} s")
        time.sleep(0.0005)
    return time.perf_counter()


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
