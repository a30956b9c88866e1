"""The bridge's log: one file for all bridges of the user, 0600, 1 MB and two older ones. Never a prompt or a command."""

from __future__ import annotations

import fcntl
import os
import time
from typing import TYPE_CHECKING

from coord.private import create

if TYPE_CHECKING:
    from coord.home import Home

MOST_BYTES = 1_000_000


class Log:
    """Lines with the time and this process. A log that cannot be written is no reason to fail."""

    def __init__(self, home: Home) -> None:
        self._home = home

    def say(self, text: str) -> None:
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S%z")
        line = f"{stamp} bridge[{os.getpid()}] {text}\n".encode("utf-8", "replace")
        try:
            path = self._home.logs() + "/bridge.log"
            fd = create(path, os.O_WRONLY | os.O_APPEND)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX)  # several bridges: one of them moves the full file, once
                os.write(fd, line)
                if os.fstat(fd).st_size > MOST_BYTES and os.stat(path).st_ino == os.fstat(fd).st_ino:
                    _turn(path)
            finally:
                os.close(fd)
        except OSError:
            pass


def _turn(path: str) -> None:
    for old, new in ((f"{path}.1", f"{path}.2"), (path, f"{path}.1")):
        if os.path.exists(old):
            os.replace(old, new)
