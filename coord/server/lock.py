"""A lock between processes, on a file; it goes with its holder, however that one ends."""

from __future__ import annotations

import fcntl
import os
import time

from coord.errors import Unavailable
from coord.private import create


class Lock:
    """`with Lock(path, wait):` holds the file's lock; Unavailable after `wait` seconds, OSError when it can't
    be made."""

    __slots__ = ("_fd", "_path", "_wait")

    def __init__(self, path: str, wait: float) -> None:
        self._path = path
        self._wait = wait
        self._fd = -1

    def __enter__(self) -> Lock:
        self._fd = create(self._path, os.O_RDWR)
        try:
            self._take()
        except BaseException:  # also Ctrl-C: a program that goes on would keep the file, and the lock if it had it
            os.close(self._fd)
            raise
        return self

    def _take(self) -> None:
        end = time.monotonic() + self._wait
        while not self._taken():
            if time.monotonic() > end:
                raise Unavailable(
                    f"another omp-coord looks for a server since {self._wait:.3g} s ({self._path}); try again"
                )
            time.sleep(0.005)  # a lock on a file knows no time-out, and says nothing when it is free

    def _taken(self) -> bool:
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def __exit__(self, *_: object) -> None:
        os.close(self._fd)
