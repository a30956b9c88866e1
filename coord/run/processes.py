"""The process table, read for one purpose: who belongs to a job, and sending exactly that process a signal.

A process is its pid and its raw start time: a pid alone may be somebody else's by the time it is used.
"""

from __future__ import annotations

import errno
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal as _signal
    from collections.abc import Iterator
else:
    import _signal

LINUX = sys.platform.startswith("linux")

SENT, GONE, REFUSED = "sent", "gone", "refused"


class Proc:
    """A line of the process table. `start` is field 22 of /proc/<pid>/stat (elsewhere: its creation time);
    `name` has no control characters; `state` is the kernel's letter, Z and X being dead ones."""

    __slots__ = ("name", "pid", "ppid", "start", "state")

    def __init__(self, pid: int, ppid: int, start: str, name: str, state: str) -> None:
        self.pid = pid
        self.ppid = ppid
        self.start = start
        self.name = name
        self.state = state

    def __repr__(self) -> str:
        return f"<{self.pid} {self.name} {self.state}>"

    @property
    def key(self) -> tuple[int, str]:
        """What tells this process from a later one with the same pid."""
        return self.pid, self.start

    @property
    def alive(self) -> bool:
        """Not a zombie, which only waits for its parent to notice."""
        return self.state not in ("Z", "X", "x")


def read(pid: int) -> Proc | None:
    """One process as it is now; None when there is none."""
    if not LINUX:
        return _read_elsewhere(pid)
    data = _content(f"/proc/{pid}/stat")
    if not data:
        return None
    # The name stands in parentheses and may itself hold spaces and parentheses; the fields after it cannot.
    opening, closing = data.index(b"("), data.rindex(b")")
    fields = data[closing + 2 :].split()
    name = data[opening + 1 : closing].decode("utf-8", "replace")
    if not name.isprintable():
        name = "".join(char if char.isprintable() else "?" for char in name)
    state = fields[0].decode()
    if state == "Z" and int(fields[17]) > 1:
        state = "S"  # its first thread has ended, others run on
    return Proc(pid, int(fields[1]), fields[19].decode(), name, state)


def table() -> dict[int, Proc]:
    """All processes that can be seen. Whoever was read as dead, its children are in the table too."""
    return {proc.pid: proc for pid in _all_pids() if (proc := read(pid)) is not None}


def newest_pid() -> int:
    """The pid handed out last, so that a process can be told to be older than this moment; 0: unknown."""
    try:
        return int(_content("/proc/loadavg").split()[-1])
    except (IndexError, ValueError):
        return 0


def of_job(job: str) -> list[Proc]:
    """Living processes of this user, not this one, that began with OMP_COORD_JOB=<job> in the environment."""
    wanted = f"\0OMP_COORD_JOB={job}\0".encode()
    found = [read(pid) for pid in _all_pids() if pid != os.getpid() and wanted in _environment(pid)]
    return [proc for proc in found if proc is not None and proc.alive]


def send(proc: Proc, signo: int) -> str:
    """Send this very process a signal: SENT, GONE (nobody was hit, also not by a recycled pid) or REFUSED."""
    handle = -1
    try:
        # The handle is taken before the start time is compared: after that the pid cannot change hands.
        handle = _handle(proc.pid)
        now = read(proc.pid)
        if now is None or now.start != proc.start or not now.alive:
            return GONE
        if handle >= 0:
            _signal.pidfd_send_signal(handle, signo)
        else:
            os.kill(proc.pid, signo)
    except ProcessLookupError:
        return GONE
    except PermissionError:
        return REFUSED
    finally:
        if handle >= 0:
            os.close(handle)
    return SENT


def _handle(pid: int) -> int:
    """A pidfd, or -1 where there are none or no more to be had. Raises ProcessLookupError."""
    if not hasattr(_signal, "pidfd_send_signal") or not hasattr(os, "pidfd_open"):
        return -1
    try:
        return os.pidfd_open(pid)
    except OSError as error:
        if error.errno == errno.ESRCH:
            raise
        return -1


def _content(path: str, size: int = 4096) -> bytes:
    try:
        fd = os.open(path, os.O_RDONLY)
    except OSError:
        return b""
    try:
        return os.read(fd, size)
    except OSError:
        return b""
    finally:
        os.close(fd)


def _pids() -> Iterator[int]:
    if LINUX:
        return (int(name) for name in os.listdir("/proc") if name.isdigit())
    import psutil  # type: ignore[import-untyped, unused-ignore]

    return iter(psutil.pids())


def _all_pids() -> Iterator[int]:
    """Each pid once, new ones too, until a look finds none that has not been given out.

    A process that forks and exits while the table is read is gone when its turn comes, and its child was not on the
    list: with a second look "nobody left" is never said too early.
    """
    seen: set[int] = set()
    for _ in range(20):
        fresh = [pid for pid in _pids() if pid not in seen]
        if not fresh:
            return
        seen.update(fresh)
        yield from fresh


def _environment(pid: int) -> bytes:
    """Its environment at its start, each entry between two NULs; empty when another user's or hidden."""
    if not LINUX:
        return _environment_elsewhere(pid)
    path = f"/proc/{pid}/environ"
    try:
        if os.stat(path).st_uid != os.geteuid():
            return b""
        with open(path, "rb", buffering=0) as file:
            return b"\0" + (file.readall() or b"") + b"\0"
    except OSError:
        return b""


def _read_elsewhere(pid: int) -> Proc | None:
    import psutil  # type: ignore[import-untyped, unused-ignore]

    try:
        proc = psutil.Process(pid)
        with proc.oneshot():
            status = proc.status()
            state = {"zombie": "Z", "dead": "X", "stopped": "T"}.get(status, "S")
            return Proc(pid, proc.ppid(), str(proc.create_time()), proc.name(), state)
    except psutil.NoSuchProcess:
        return None
    except psutil.Error:
        return Proc(pid, 0, "", "?", "S")


def _environment_elsewhere(pid: int) -> bytes:
    import psutil  # type: ignore[import-untyped, unused-ignore]

    try:
        proc = psutil.Process(pid)
        if proc.uids().effective != os.geteuid():
            return b""
        entries = proc.environ().items()
    except (psutil.Error, OSError):
        return b""
    return "".join(f"\0{name}={value}" for name, value in entries).encode("utf-8", "surrogateescape") + b"\0"
