"""Which machine this is, and whether a process of it is still there (design: who lives).

A machine is a boot and a pid namespace: containers of one computer share the boot id but not the process table. A
process is its pid and its raw start time; neither depends on a clock.
"""

from __future__ import annotations

import os
import sys

_machine: str | None = None


def machine_id() -> str:
    """This boot and pid namespace; a random id where they cannot be read (then only leases decide)."""
    global _machine  # noqa: PLW0603 - read once per process
    if _machine is None:
        _machine = _read_machine() or "random-" + os.urandom(8).hex()
    return _machine


def _read_machine() -> str | None:
    try:
        if sys.platform == "darwin":
            import subprocess

            boot = subprocess.check_output(["/usr/sbin/sysctl", "-n", "kern.bootsessionuuid"], text=True).strip()
            return f"{boot}/darwin"
        with open("/proc/sys/kernel/random/boot_id") as file:
            boot = file.read().strip()
        return f"{boot}/{os.stat('/proc/self/ns/pid').st_ino}"
    except (OSError, ValueError):
        return None


def start_of(pid: int) -> str | None:
    """The raw start time of a process (field 22 of its stat), or None when it is gone, a zombie or unreadable."""
    if sys.platform == "darwin":
        return _start_of_elsewhere(pid)
    stat = _stat(pid)
    if stat is None or stat[0] in "ZXx":
        return None
    return stat[1]


def is_gone(pid: int, start: str) -> bool:
    """Whether that very process is over: no such pid, another start time, a zombie. What cannot be seen is alive."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        pass
    if not start:  # it could not see its own start time: while the pid is in use, it may be that one
        return False
    if sys.platform == "darwin":
        seen = _start_of_elsewhere(pid)
        return seen is not None and seen != start
    stat = _stat(pid)
    if stat is None:  # /proc is hidden from us, or it ended this moment: the next look tells
        return False
    return stat[0] in "ZXx" or stat[1] != start


def _stat(pid: int) -> tuple[str, str] | None:
    """State and start time."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b") ")[2].split()
        state = fields[0].decode()
        if state == "Z" and int(fields[17]) > 1:
            state = "S"  # its first thread has ended, others run on
        return state, fields[19].decode()
    except (OSError, IndexError, ValueError):
        return None


def _start_of_elsewhere(pid: int) -> str | None:
    import psutil

    try:
        return str(psutil.Process(pid).create_time())
    except psutil.Error:
        return None
