"""Groups of `bench.worker` processes, one group per kind of lock; they live as long as the row that asks them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from bench import peers
from bench.place import ROOT

if TYPE_CHECKING:
    from types import TracebackType

    from bench.place import Place

NEEDS = {"ours": "coord", "redis-py Lock": "redis", "python-redis-lock": "redis_lock"}


class Workers:
    """`count` processes of one kind. `ask` gives all of them the same order and returns their answers."""

    def __init__(self, place: Place, kind: str, queue: str, count: int = 1) -> None:
        env = {**place.env, "PYTHONPATH": os.pathsep.join([ROOT, os.path.join(ROOT, "cli"), *sys.path[1:]])}
        words = [sys.executable, "-m", "bench.worker", kind, queue, place.url]
        self.kind = kind
        self.processes = [
            subprocess.Popen(
                words, cwd=place.project, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            for _ in range(count)
        ]
        self.ask("pairs 1")  # connected, scripts known, everything imported

    def ask(self, order: str) -> list[Any]:
        for process in self.processes:
            assert process.stdin is not None
            process.stdin.write(order + "\n")
            process.stdin.flush()
        return [json.loads(process.stdout.readline()) for process in self.processes if process.stdout]

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in self.processes:
            assert process.stdin is not None
            process.stdin.close()
        for process in self.processes:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def kinds() -> list[str]:
    """Those this interpreter has the packages of."""
    return [kind for kind, package in NEEDS.items() if peers.package(package)]
