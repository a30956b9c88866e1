"""Drives a real omp session in its RPC mode: one JSON object a line, over pipes."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PLUGIN = f"{ROOT}/plugin"
ENTRY = f"{PLUGIN}/src/index.ts"
READY_S = 90
TURN_S = 90
Frame = dict[str, Any]


def words(extensions: Sequence[str]) -> list[str]:
    """omp's options for a session on the scripted model with these extensions, asked in this order."""
    named = [word for extension in extensions for word in ("-e", extension)]
    return ["--model", "fake/fake", "--auto-approve", "--no-title", *named]


class Omp:
    """A running omp. `frames` is all that it has said, in order; `stderr` the file of what it complains of.

    It is started with its own process group and dies only by `quit`, `kill`, or its place.
    """

    def __init__(self, command: Sequence[str], cwd: str, env: Mapping[str, str], stderr: str) -> None:
        self.stderr, self.cwd = stderr, cwd
        self.frames: list[Frame] = []
        self._news, self._ids, self._over = threading.Condition(), itertools.count(1), False
        with open(stderr, "ab") as errors:
            self.process = subprocess.Popen(
                [*command, "--mode", "rpc"], cwd=cwd, env=dict(env), start_new_session=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
            )  # fmt: skip
        threading.Thread(target=self._read, daemon=True).start()

    @property
    def pid(self) -> int:
        return self.process.pid

    def ready(self) -> Omp:
        """Waits until it takes commands."""
        self.frame(lambda frame: frame.get("type") == "ready", "omp is ready", timeout=READY_S)
        return self

    # -- lines

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with contextlib.suppress(ValueError):
                self._add(json.loads(line))
        self._add(None)

    def _add(self, frame: Frame | None) -> None:
        with self._news:
            if frame is None:
                self._over = True
            else:
                self.frames.append(frame)
            self._news.notify_all()

    def frame(self, wanted: Callable[[Frame], bool], what: str, since: int = 0, timeout: float = TURN_S) -> Frame:
        """The first frame from the `since`-th on that is wanted, once it is there."""
        deadline, place = time.monotonic() + timeout, since
        with self._news:
            while True:
                while place < len(self.frames):
                    place += 1
                    if wanted(self.frames[place - 1]):
                        return self.frames[place - 1]
                left = deadline - time.monotonic()
                if self._over or left <= 0:
                    why = "omp has ended" if self._over else f"not so within {timeout} s"
                    raise AssertionError(f"{what}: {why}; last: {self.frames[-2:]}; {self.complaints()[-500:]}")
                self._news.wait(left)

    def send(self, kind: str, **fields: Any) -> str:
        """Writes a command; returns its id."""
        id = f"c{next(self._ids)}"
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"id": id, "type": kind, **fields}).encode() + b"\n")
        self.process.stdin.flush()
        return id

    def call(self, kind: str, timeout: float = TURN_S, **fields: Any) -> Any:
        """The data that omp answers a command with."""
        since = len(self.frames)
        id = self.send(kind, **fields)

        def ours(frame: Frame) -> bool:
            return frame.get("type") == "response" and frame.get("id") == id

        answer = self.frame(ours, f"omp answers {kind}", since, timeout)
        assert answer.get("success"), answer
        return answer.get("data")

    # -- prompts

    def prompt(self, words: str) -> str:
        """Says something to the main conversation, as its user; returns the prompt's id without waiting for an end."""
        id = self.send("prompt", message=words)

        def taken(frame: Frame) -> bool:
            return frame.get("type") == "response" and frame.get("id") == id

        answer = self.frame(taken, "omp takes the prompt")
        assert answer.get("success"), answer
        return id

    def run(self, words: str, timeout: float = TURN_S) -> None:
        """The same, and waits until the session has nothing more to do."""
        self.prompt(words)
        self.settled(timeout)

    def settled(self, timeout: float = TURN_S) -> None:
        """Waits until nothing runs in this session, nor can by itself."""
        deadline = time.monotonic() + timeout
        while not self.call("get_state")["isSettled"]:
            assert time.monotonic() < deadline, f"the session settles: not so within {timeout} s"
            since = len(self.frames)
            with contextlib.suppress(AssertionError):
                self.frame(lambda frame: frame.get("type") == "session_settled", "it settles", since, 0.5)

    def slash(self, line: str) -> str:
        """What a command of the user shows, as one text."""
        since = len(self.frames)
        id = self.send("prompt", message=line)

        def ended(frame: Frame) -> bool:
            done = frame.get("data") or {}
            local = frame.get("type") == "response" and done.get("agentInvoked") is False
            return frame.get("id") == id and (local or frame.get("type") == "prompt_result")

        self.frame(ended, f"{line} has ended", since)
        shown = [one["message"] for one in self._ui("notify", since)]
        shown += [one["text"] for one in self.frames[since:] if one.get("type") == "command_output"]
        return "\n".join(shown)

    # -- what the user sees

    def _ui(self, method: str, since: int = 0) -> list[Frame]:
        return [
            one
            for one in list(self.frames[since:])
            if one.get("type") == "extension_ui_request" and one.get("method") == method
        ]

    def notices(self, level: str | None = None) -> list[str]:
        """Texts shown to the user, all or those of a level (info, warning, error)."""
        return [one["message"] for one in self._ui("notify") if level in (None, one.get("notifyType", "info"))]

    def footers(self) -> list[str]:
        """What has stood in the footer; "" where it was cleared."""
        return [one.get("statusText") or "" for one in self._ui("setStatus") if one["statusKey"] == "omp-coord"]

    @property
    def footer(self) -> str:
        return (self.footers() or [""])[-1]

    def complaints(self) -> str:
        """What it wrote to stderr, but for its remark that this machine is slow."""
        with open(self.stderr, encoding="utf-8", errors="replace") as file:
            return "".join(line for line in file if not line.startswith(("Still starting", "  logs:")))

    # -- the end

    def quit(self) -> int:
        """Closes its input, as a host does that is done with it; its exit code."""
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        return self.process.wait(READY_S)

    def kill(self) -> None:
        """kill -9 of this process alone."""
        os.kill(self.pid, signal.SIGKILL)
        self.process.wait(READY_S)
