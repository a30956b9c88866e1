"""Which processes are the embedded server and its guard.

HOT: the runner asks before it ends or names what is left of a job, since a job's command may have been what
started the server.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from coord.home import Home


def server_pids(home: Home) -> set[int]:
    """Pids of the embedded server of `home`, its guard and the server's own children; empty when none runs.

    Whoever walks a process tree must not descend into these either.
    """
    found = read(home)
    pids = set(found.values())
    if "server" in found:
        pids |= _children(found["server"])
    return pids


def path(home: Home) -> str:
    return home.machine + "/server/pids"


def read(home: Home) -> dict[str, int]:
    """Pids of `server` and `guard`, those that live; a pid that the system gave to another process is not
    returned."""
    try:
        with open(path(home), "rb") as file:  # a text file would import its encoding
            lines = file.read().decode("ascii", "replace").splitlines()
    except OSError:
        return {}
    found = {}
    for line in lines:
        name, _, rest = line.partition(" ")
        pid, _, start = rest.partition(" ")
        if pid.isdigit() and lives(int(pid), start):
            found[name] = int(pid)
    return found


def lives(pid: int, start: str) -> bool:
    """Whether the process `pid` that started at `start` (field 22 of its stat; "" when unknown) runs."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        return fields[0] not in (b"Z", b"X") and start in ("", fields[19].decode())
    except FileNotFoundError:
        if os.path.exists("/proc/self/stat"):
            return False
    except OSError:
        return False
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


def _children(pid: int) -> set[int]:
    try:
        with open(f"/proc/{pid}/task/{pid}/children", "rb") as file:
            return {int(child) for child in file.read().split()}
    except OSError:
        return set()
