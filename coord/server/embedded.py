"""The embedded server: a real server program of this user's own, on a unix socket in the state folder (design
10).

Started under a file lock by whoever needs it first, and nobody's child: it outlives whatever started it,
until its guard finds it idle or `stop` is called. Its data (an AOF) stays in `Home.server()`.
"""

from __future__ import annotations

import contextlib
import os
import time

import hiredis

from coord import private
from coord.errors import Unavailable
from coord.home import unavailable
from coord.names import clean
from coord.server import pids, talk
from coord.server.lock import Lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from coord.home import Home

IDLE_S = 24 * 3600.0
"""How long it runs without clients."""

_KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")


class Started:
    """`url` of the running server; `notice` is the line to say when this was its very first start, else None;
    `already` whether it ran before."""

    __slots__ = ("already", "notice", "url")

    def __init__(self, url: str, *, already: bool, notice: str | None = None) -> None:
        self.url = url
        self.already = already
        self.notice = notice


def url(home: Home) -> str | None:
    """The URL of the server that runs now and answers, None when none does; starts and makes nothing."""
    if not os.path.isdir(home.machine + "/server"):
        return None
    try:
        socket = home.socket()
        return url_of(socket) if _says(socket) == "ready" else None
    except OSError:
        return None


def socket(home: Home) -> str | None:
    """Where its socket is or would be, None when there is no place for one."""
    try:
        return home.socket()
    except OSError:
        return None


def socket_url(home: Home) -> str | None:
    """The URL that it has or would have."""
    path = socket(home)
    return url_of(path) if path else None


def url_of(socket: str) -> str:
    """The URL of a socket's path: what would mean something else in a URL is percent-encoded."""
    for char in "%?@#\r\n":  # a line's end would end it in the scope's record
        socket = socket.replace(char, f"%{ord(char):02X}")
    return "unix://" + socket


def start(home: Home, env: Mapping[str, str], *, wait: float = 3.0, idle: float = IDLE_S) -> Started:
    """The running server, started when there is none. Unavailable when there can be none within `wait`
    seconds."""
    try:
        socket = home.socket()
        end = time.monotonic() + wait
        with Lock(home.server() + "/lock", wait):
            found = _running(home, socket, env, end)
            if found:
                return Started(url_of(socket), already=True)
            return Started(url_of(socket), already=False, notice=_launch(home, socket, env, end, idle))
    except OSError as error:
        raise unavailable(error) from error


def stop(home: Home, *, wait: float = 10.0, force: bool = False) -> bool:
    """Stops it, its data written; False when none ran. Unavailable when it does not end within `wait`
    seconds; with `force` it is killed then. Who lives on it is the caller's concern:
    `coord.server.people.on`."""
    if not os.path.isdir(home.machine + "/server"):
        return False
    try:
        socket = home.socket()
        with Lock(home.server() + "/lock", wait):
            if _says(socket) is None and "server" not in pids.read(home):
                return False
            _end(home, socket, wait, force)
            return True
    except OSError as error:
        raise unavailable(error) from error


def _says(socket: str) -> str | None:
    """`ready`, `loading`, `silent` (it is there and does not answer) or None (nobody is there)."""
    if not os.path.lexists(socket):
        return None
    if not private.own_socket(socket):
        raise PermissionError(f"{socket} is not a private socket of this user")
    try:
        answer = talk.ask(socket, [("PING",)], 1.0, own=True)[0]
    except TimeoutError:
        return "silent"
    except (ConnectionError, FileNotFoundError):
        return None
    return "loading" if isinstance(answer, hiredis.ReplyError) and "LOADING" in str(answer) else "ready"


def _running(home: Home, socket: str, env: Mapping[str, str], end: float) -> bool:
    """Whether one runs and answers, waiting for one that is about to. Ends one that nobody can reach any
    more."""
    soon = time.monotonic() + 1.5
    while True:
        said = _says(socket)
        if said == "ready":
            _guarded(home, socket, env)
            return True
        pid = pids.read(home).get("server")
        if said is None and pid is None:
            return False
        if time.monotonic() > (soon if said is None else end):
            break
        time.sleep(0.01)  # a server that starts gives no event; its log and socket are looked at
    if said is not None or pid is None:
        raise Unavailable(
            f"the embedded server (process {pid or 'unknown'}) "
            f"{'is still loading its data' if said == 'loading' else 'does not answer'}; try again, or see "
            f"{_log(home)} and `omp-coord server stop --force`"
        )
    # It lives without its socket (a cleaner of temp folders): a second one beside it would share its files.
    _send_signal(pid, 15)
    _gone(home, 5.0)
    return False


def _launch(home: Home, socket: str, env: Mapping[str, str], end: float, idle: float) -> str | None:
    """Starts it and waits until it answers; the line to say when it is the first start in this home."""
    from coord.server.program import program_for

    program, kind, version, first = program_for(home.server() + "/program", env)
    begun = time.monotonic()
    if os.path.lexists(socket):
        os.unlink(socket)  # left by one that was killed; we hold the lock and nobody listens
    log = _log(home)
    _guard(home, socket, env, idle, [program, *_settings(socket, log)])
    while (said := _says(socket)) != "ready":
        if said is None and "server" not in pids.read(home):
            raise Unavailable(
                f"{program} did not start: {_last_line(log)} (see {log}; "
                f"with {home.server()} moved away it starts empty)"
            )
        if time.monotonic() > max(end, begun + 1.0):
            why = "is still loading its data" if said == "loading" else "does not answer yet"
            raise Unavailable(f"the embedded server was started but {why}; see {log}")
        time.sleep(0.005)  # a server that starts gives no event; its log and socket are looked at
    private.write(home.server() + "/program", f"{program}\n{kind}\n{version}\n")
    if not first:
        return None
    return (
        f"started an embedded {kind.capitalize()} {version} for this user in {clean(home.server())}; "
        "`omp-coord server stop` stops it"
    )


def _settings(socket: str, log: str) -> list[str]:
    values = {
        "port": "0",
        "unixsocket": socket,
        "unixsocketperm": "700",
        "logfile": log,
        "crash-log-enabled": "no",  # its crash reports hold the arguments of commands
        "daemonize": "no",
        "save": "",
        "appendonly": "yes",
        "appendfsync": "everysec",
        "aof-load-truncated": "yes",  # kill -9 in the middle of a write
        "maxmemory": "0",
        "maxmemory-policy": "noeviction",
        "maxclients": "20000",  # the server takes what fits when fewer descriptors are allowed
        "timeout": "0",
    }
    return [word for name, value in values.items() for word in (f"--{name}", value)]


def _guard(home: Home, socket: str, env: Mapping[str, str], idle: float, program: list[str]) -> None:
    """Runs guard.py, which detaches itself; with a program it starts that one as well."""
    import subprocess
    import sys

    kept = {name: env[name] for name in _KEPT if name in env}
    folder, log = home.server(), _log(home)
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "guard.py")
    with open(log, "ab", opener=private.create) as out:
        code = subprocess.run(
            [
                sys.executable,
                "-I",
                "-S",
                script,
                socket,
                folder + "/lock",
                pids.path(home),
                log,
                str(idle),
                *program,
            ],
            cwd=folder,
            env=kept,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
            check=False,
        ).returncode
    if code:
        raise Unavailable(f"the embedded server could not be started: {_last_line(log)} ({log})")


def _guarded(home: Home, socket: str, env: Mapping[str, str]) -> None:
    """A server whose guard was killed gets a new one."""
    found = pids.read(home)
    if "server" in found and "guard" not in found:
        _guard(home, socket, env, IDLE_S, [])


def _end(home: Home, socket: str, wait: float, force: bool) -> None:
    pid = pids.read(home).get("server")
    try:
        answer = talk.ask(socket, [("SHUTDOWN",)], min(wait, 3.0), own=True)[0]
    except OSError as error:
        answer = error  # how a server that ends says so
    if _gone(home, wait) and _says(socket) is None:
        _gone(home, 1.0, "guard")
        return
    if not force:
        raise Unavailable(f"the embedded server (process {pid}) does not end ({answer}); --force kills it")
    if pid is not None:
        _send_signal(pid, 9)
    _gone(home, wait)


def _send_signal(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def _gone(home: Home, wait: float, which: str = "server") -> bool:
    end = time.monotonic() + wait
    while which in pids.read(home):
        if time.monotonic() > end:
            return False
        time.sleep(0.005)  # it is no child of ours, so nobody tells of its end
    return True


def _log(home: Home) -> str:
    return home.logs() + "/server.log"


def _last_line(log: str) -> str:
    try:
        with open(log, "rb") as file:
            file.seek(max(0, os.path.getsize(log) - 4096))
            lines = file.read().decode(errors="replace").strip().splitlines()
    except OSError:
        return "its log cannot be read"
    return lines[-1] if lines else "it said nothing"
