"""A scripted model: an OpenAI-compatible server in the test's own process, on a port of its own.

It keeps no state of any agent: each request tells by itself which step comes next (`tests.host.script`). What it keeps is
a log of what every agent's model was told, and gates at which an answer waits until the test opens them.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.host.script import Step, next_step, words_of
from tests.waiting import until

LONGEST_S = 120
"""Nobody waits at a gate for longer: a test that forgot one fails, it does not hang."""
_SELF = re.compile(r"[Yy]our (?:id|agent id|address)[^`]*`([^`]+)`")


@dataclass
class Asked:
    """One request: who asked ("" = a main conversation), the step it is answered with, and all that was in the request."""

    agent: str
    step: Step
    messages: list[dict[str, Any]]
    tools: set[str]

    @property
    def last(self) -> str:
        """The words of the last message."""
        return words_of(self.messages[-1])

    @property
    def all(self) -> str:
        """The words of the whole conversation."""
        return "\n".join(words_of(message) for message in self.messages)


class Model(ThreadingHTTPServer):
    """`asked` has every request, in the order in which they came. Use `serving()`."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[Asked] = []
        self._gates: dict[str, threading.Event] = {}
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    # -- gates

    def gate(self, name: str) -> threading.Event:
        with self._lock:
            return self._gates.setdefault(name, threading.Event())

    def open(self, *names: str) -> None:
        """Lets everybody through who waits at these gates or comes there later."""
        for name in names:
            self.gate(name).set()

    def at(self, name: str) -> list[Asked]:
        """Those that came to the gate so far."""
        return [one for one in list(self.asked) if one.step.get("gate") == name]

    def until_at(self, name: str, count: int = 1) -> None:
        """Waits until that many have come to the gate."""
        until(lambda: len(self.at(name)) >= count, f"{count} agents come to the gate {name}", 60, 0.02)

    # -- what was said

    def said_to(self, agent: str, part: str, timeout: float = 60) -> Asked:
        """The first request of the agent ("": of a main conversation) whose conversation has these words."""

        def found() -> list[Asked]:
            return [one for one in list(self.asked) if one.agent == agent and part in one.all]

        return until(found, f"the model of {agent or 'Main'} is told {part!r}", timeout, 0.02)[0]

    def take(self, request: dict[str, Any]) -> Step:
        """Notes a request; returns the answer that is due, once its gate is open."""
        system = "\n".join(words_of(one) for one in request["messages"] if one["role"] in ("system", "developer"))
        who = _SELF.search(system)
        step = next_step(request)
        tools = {one["function"]["name"] for one in request.get("tools", [])}
        self.asked.append(Asked(who[1] if who else "", step, request["messages"], tools))
        if "gate" in step:
            self.gate(step["gate"]).wait(LONGEST_S)
        return step

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no fault: tests kill them."""


def models_yml(url: str) -> str:
    """omp's file of models, with the scripted one alone."""
    model = {
        "id": "fake",
        "name": "Fake",
        "reasoning": False,
        "input": ["text"],
        "contextWindow": 128000,
        "maxTokens": 4096,
    }
    provider = {"baseUrl": url, "apiKey": "none", "api": "openai-completions", "auth": "none", "models": [model]}
    return json.dumps({"providers": {"fake": provider}})  # JSON is YAML


@contextmanager
def serving() -> Iterator[Model]:
    """A running server. At the end all its gates are open and it is gone."""
    with Model() as model:
        thread = threading.Thread(target=model.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield model
        finally:
            model.open(*list(model._gates))
            model.shutdown()
            thread.join(10)


class Handler(BaseHTTPRequestHandler):
    """Answers chat completions as a stream, and the list of models."""

    protocol_version = "HTTP/1.1"
    server: Model

    def log_message(self, *_: object) -> None:
        """Nothing on stderr."""

    def do_GET(self) -> None:
        self._json(200, {"data": [{"id": "fake"}]})

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        step = self.server.take(request)
        self.close_connection = True
        if "status" in step:
            self._json(step["status"], {"error": {"message": step["message"], "type": "server_error"}})
        else:
            self._stream(step, f"call-{len(self.server.asked)}")

    def _json(self, status: int, value: Any) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, step: Step, id: str) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        if "tool" in step:
            call = {"name": step["tool"], "arguments": json.dumps(step["args"])}
            calls = [{"index": 0, "id": id, "type": "function", "function": call}]
            self._chunk({"role": "assistant", "tool_calls": calls}, None)
            self._chunk({}, "tool_calls")
        else:
            self._chunk({"role": "assistant", "content": step["text"]}, None)
            self._chunk({}, "stop")
        self.wfile.write(b"data: [DONE]\n\n")

    def _chunk(self, delta: dict[str, Any], finish: str | None) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        chunk = {"id": "x", "object": "chat.completion.chunk", "model": "fake", "choices": [choice]}
        self.wfile.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
