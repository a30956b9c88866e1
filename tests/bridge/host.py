"""A host as the plugin is one: it starts `omp-coord bridge`, speaks JSON-RPC lines with it, and may die in every way."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import signal
import subprocess
import threading
from typing import Any

from tests.cli.place import Place
from tests.waiting import Awake, until

GONE_S = 2.5
"""A bridge is gone within a second; a busy machine may add to that. Whoever waited for a server would take over 3 s."""
ENOUGH_S = 60.0
"""Nobody's promise: so long is waited for what surely comes, before a test fails."""
MAIN = {"id": "Main", "kind": "main"}
Message = dict[str, Any]


def under(agent: str) -> dict[str, str]:
    """The parent of a nested agent."""
    return {"id": agent, "kind": "sub"}


def running(id: str, type: str = "task", parent: dict[str, str] = MAIN) -> dict[str, Any]:
    """An agent in a list of what runs."""
    return {"id": id, "type": type, "parent": parent}


class Host:
    """A host with its own process (a sleeper) and a bridge on pipes. `seen` is all that the bridge has said, in order."""

    def __init__(self, place: Place, name: str = "host-session", **env: str) -> None:
        self.place, self.name, self.env = place, name, env
        self.process = place.start("sleep", "1000")
        self.ids = itertools.count(1)
        self.session = self.label = ""
        self.seen: list[Message] = []
        self.restart()

    @property
    def pid(self) -> int:
        return self.process.pid

    # -- the bridge

    def restart(self) -> None:
        """A bridge, anew."""
        self.raw: list[bytes] = []
        self.bridge = self.place.start(*self.words(), stdin=subprocess.PIPE, env=self.env)
        self._reader = threading.Thread(target=self._read, args=(self.bridge,), daemon=True)
        self._reader.start()

    def words(self) -> list[str]:
        """What starts a bridge."""
        return [self.place.den.command, "bridge"]

    def _read(self, bridge: subprocess.Popen[str]) -> None:
        assert bridge.stdout is not None
        with contextlib.suppress(ValueError):
            for line in bridge.stdout.buffer:  # type: ignore[attr-defined]
                self.raw.append(line)
                self.seen.append(json.loads(line))

    def write(self, data: bytes) -> None:
        assert self.bridge.stdin is not None
        self.bridge.stdin.buffer.write(data)  # type: ignore[attr-defined]
        self.bridge.stdin.buffer.flush()  # type: ignore[attr-defined]

    def end_input(self) -> float:
        """Closes the bridge's stdin; returns the seconds until it was gone. All that it said is in `seen` then."""
        assert self.bridge.stdin is not None
        with Awake() as clock:
            self.bridge.stdin.close()
            assert self.bridge.wait(ENOUGH_S) == 0
        self._heard_out()
        return clock.seconds

    def kill_bridge(self) -> None:
        """kill -9. All that it said is in `seen` then."""
        self.bridge.kill()
        self.bridge.wait(ENOUGH_S)
        self._heard_out()

    def _heard_out(self) -> None:
        """The process may be gone before its last words are read."""
        self._reader.join(ENOUGH_S)
        assert not self._reader.is_alive()

    def die(self) -> None:
        """kill -9 of the host and its bridge at once."""
        self.kill_bridge()
        self.process.kill()
        self.process.wait(ENOUGH_S)

    def freeze(self) -> None:
        """SIGSTOP for both."""
        for pid in (self.bridge.pid, self.pid):
            os.kill(pid, signal.SIGSTOP)

    def thaw(self) -> None:
        for pid in (self.bridge.pid, self.pid):
            os.kill(pid, signal.SIGCONT)

    # -- asking

    def send(self, method: str, **params: Any) -> int:
        """Writes a request; returns its id."""
        return self.send_all((method, params))[0]

    def send_all(self, *requests: tuple[str, dict[str, Any]]) -> list[int]:
        """Writes several in one go, so that the bridge has the second when it has the first; their ids."""
        ids = [next(self.ids) for _ in requests]
        lines = [
            json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}) + "\n"
            for id, (method, params) in zip(ids, requests, strict=True)
        ]
        self.write("".join(lines).encode())
        return ids

    def answer(self, id: Any) -> Message:
        """The whole answer to a request."""
        wanted = f"an answer to {id}"
        return until(lambda: [one for one in self.seen if one.get("id", self) == id], wanted, ENOUGH_S)[0]

    def call(self, method: str, **params: Any) -> Any:
        """The result of a request."""
        answer = self.answer(self.send(method, **params))
        assert "error" not in answer, answer
        return answer["result"]

    def code(self, method: str, **params: Any) -> int:
        """The code of the error that a request is answered with."""
        return int(self.answer(self.send(method, **params))["error"]["code"])

    def open(self, *agents: dict[str, Any], **more: Any) -> Any:
        """`session.open`, with what runs."""
        params = {"protocol": 1, "cwd": self.place.folder, "sessionId": self.name, "pid": self.pid, "shown": []}
        host = {"name": "omp", "version": "18.3.4"}
        result = self.call("session.open", **{**params, "agents": list(agents), "host": host, **more})
        if result["active"]:
            self.session, self.label = result["session"], result["label"]
        return result

    def spawn(self, type: str = "task", key: str | None = None, parent: dict[str, str] = MAIN, **more: Any) -> Any:
        return self.call("spawn.request", parent=parent, type=type, key=key, **more)

    def started(self, id: str, type: str = "task", parent: dict[str, str] = MAIN) -> Any:
        return self.call("agent.started", session=self.session, id=id, parent=parent, type=type)

    def run(self, id: str, type: str = "task", parent: dict[str, str] = MAIN) -> None:
        """An agent that was asked for and runs."""
        assert self.spawn(type, id, parent)["allowed"]
        self.started(id, type, parent)

    def ended(self, id: str) -> Any:
        return self.call("agent.ended", session=self.session, id=id)

    # -- what it says unasked

    def told(self, method: str, since: int = 0) -> list[Message]:
        """Parameters of all notifications of a method, from the `since`-th message on."""
        return [one["params"] for one in self.seen[since:] if one.get("method") == method]

    def texts(self, level: str | None = None) -> list[str]:
        return [one["text"] for one in self.told("notify") if level in (None, one["level"])]

    def until_told(self, method: str, part: str = "", timeout: float = ENOUGH_S) -> Message:
        """The first notification of a method in which `part` stands, of all that there were."""

        def found() -> list[Message]:
            return [one for one in self.told(method) if part in json.dumps(one, ensure_ascii=False)]

        return until(found, f"{method} with {part!r} is told", timeout)[0]

    def until_footer(self, text: str, timeout: float = ENOUGH_S) -> None:
        """Waits until this is the footer. (What was told with it, or just behind it, may not be here yet.)"""
        try:
            until(lambda: (self.told("footer") or [{"text": ""}])[-1]["text"] == text, f"the footer {text}", timeout)
        except AssertionError as error:
            raise AssertionError(f"{error}; there were {self.told('footer')[-3:]}") from None
