"""Hosts as the plugin is one: each starts `omp-coord bridge` and speaks JSON-RPC lines with it through pipes."""

from __future__ import annotations

import itertools
import json
import os
import select
import subprocess
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import TracebackType

    from bench.place import Place

MAIN = {"id": "Main", "kind": "main"}
_names = itertools.count()


class Host:
    """One session: its bridge in `folder`, opened. `opened_s`: from the bridge's start to the answer to `session.open`."""

    def __init__(self, place: Place, folder: str) -> None:
        self._ids = itertools.count(1)
        self._lines: list[tuple[float, dict[str, Any]]] = []
        self._rest = b""
        begun = time.perf_counter()
        self.bridge = subprocess.Popen(
            place.command("bridge"), cwd=folder, env=place.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )
        try:
            opened = self.call(
                "session.open", protocol=1, cwd=folder, sessionId=f"bench-{next(_names)}", pid=os.getpid(), agents=[]
            )
            if not opened["active"]:
                raise RuntimeError(f"the session is not on the board: {opened['reason']}")
        except BaseException:
            self.close()
            raise
        self.session: str = opened["session"]
        self.opened_s = time.perf_counter() - begun

    @property
    def pid(self) -> int:
        return self.bridge.pid

    def call(self, method: str, **params: Any) -> Any:
        """The result of a request. RuntimeError for an error."""
        id = next(self._ids)
        line = json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}) + "\n"
        assert self.bridge.stdin is not None
        self.bridge.stdin.write(line.encode())
        answer = self._next(lambda message: message.get("id") == id)[1]
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def told(self, method: str, seconds: float = 30.0) -> tuple[float, dict[str, Any]]:
        """The next notification of that kind, and when (perf_counter) it was read from the pipe."""
        return self._next(lambda message: message.get("method") == method, seconds)

    def forget(self) -> None:
        """Drops what was said until now."""
        while select.select([self.bridge.stdout], (), (), 0)[0] and self._read():
            pass
        self._lines.clear()

    def _next(self, wanted: Any, seconds: float = 30.0) -> tuple[float, dict[str, Any]]:
        end = time.perf_counter() + seconds
        while True:
            for at, entry in enumerate(self._lines):
                if wanted(entry[1]):
                    del self._lines[at]
                    return entry
            left = end - time.perf_counter()
            if left <= 0 or not select.select([self.bridge.stdout], (), (), left)[0]:
                raise TimeoutError("the bridge says nothing")
            if not self._read():
                raise RuntimeError("the bridge has ended")

    def _read(self) -> bool:
        assert self.bridge.stdout is not None
        data = os.read(self.bridge.stdout.fileno(), 1 << 20)
        at = time.perf_counter()
        *lines, self._rest = (self._rest + data).split(b"\n")
        self._lines += [(at, json.loads(line)) for line in lines]
        return bool(data)

    def close(self) -> None:
        assert self.bridge.stdin is not None
        self.bridge.stdin.close()
        try:
            self.bridge.wait(10)
        except subprocess.TimeoutExpired:
            self.bridge.kill()
            self.bridge.wait()

    # -- agents of Main

    def spawn(self, agent: str, type: str = "task") -> tuple[float, bool]:
        """Asks for an agent: seconds until the answer, and whether it may start."""
        begun = time.perf_counter()
        answer = self.call("spawn.request", parent=MAIN, type=type, key=agent, invocation="task")
        return time.perf_counter() - begun, bool(answer["allowed"])

    def start(self, agent: str, type: str = "task") -> None:
        self.call("agent.started", session=self.session, id=agent, parent=MAIN, type=type)

    def end(self, agent: str) -> None:
        self.call("agent.ended", session=self.session, id=agent)


class Hosts:
    """So many sessions in a project of their own, all gone when left."""

    def __init__(self, place: Place, name: str, count: int, config: dict[str, Any]) -> None:
        self.folder = os.path.join(place.folder, name)
        os.makedirs(self.folder, exist_ok=True)
        with open(os.path.join(self.folder, ".omp-coord.json"), "w", encoding="ascii") as file:
            json.dump({"scope": name, **config}, file)
        self.all: list[Host] = []
        try:
            for _ in range(count):
                self.all.append(Host(place, self.folder))
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        for host in self.all:
            host.close()

    def __enter__(self) -> list[Host]:
        return self.all

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
