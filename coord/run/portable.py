"""Waiting for signals where sigwaitinfo is missing (macOS): handlers that write to a pipe, and select."""

from __future__ import annotations

import os
import select
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal as _signal
    from collections.abc import Iterable
    from types import FrameType
else:
    import _signal

_SIGIO = int(_signal.SIGIO)
_STOPS = frozenset(map(int, (_signal.SIGTSTP, _signal.SIGTTIN, _signal.SIGTTOU)))
_UNDOES = {int(_signal.SIGCONT): _STOPS} | dict.fromkeys(_STOPS, frozenset({int(_signal.SIGCONT)}))


def _note(signo: int, frame: FrameType | None) -> None:
    """Nothing to do: the interpreter has written the number to the pipe."""


def _is_open(fd: int) -> bool:
    try:
        os.fstat(fd)
    except OSError:
        return False
    return True


class Handlers:
    """Catches `numbers` until closed; `take` returns them in the order in which they came."""

    def __init__(self, numbers: Iterable[int]) -> None:
        self._numbers = frozenset(numbers)
        self._read, self._write = os.pipe()
        os.set_blocking(self._read, False)
        os.set_blocking(self._write, False)
        self._former_fd = _signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        self._former = {signo: _signal.signal(signo, _note) for signo in self._numbers}
        self._pending: list[int] = []
        self._mask = _signal.pthread_sigmask(_signal.SIG_UNBLOCK, self._numbers)

    def take(self, timeout_s: float | None, sockets: set[int]) -> int | None:
        """The next signal, SIGIO when one of `sockets` can be read, or None after the time (None: never).

        Sockets that have been closed are taken out of the set.
        """
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        self._drain()
        sockets -= {fd for fd in sockets if not _is_open(fd)}
        while not self._pending:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            ready = select.select([self._read, *sockets], (), (), left)[0]
            if self._read in ready:
                self._drain()
            elif ready:
                return _SIGIO
            elif deadline is not None and time.monotonic() >= deadline:
                return None
        return self._pending.pop(0)

    def holds(self, signo: int) -> bool:
        """Has that signal come, and not been taken yet?"""
        self._drain()
        return signo in self._pending

    def _drain(self) -> None:
        try:
            came = os.read(self._read, 4096)
        except BlockingIOError:
            return
        for signo in came:
            # As the kernel does with blocked ones: a stop and a continue undo each other. Otherwise the TSTP of
            # a stop that is over, because the command's own stop was seen first, would stop the runner again.
            undone = _UNDOES.get(signo, frozenset())
            self._pending = [other for other in self._pending if other not in undone]
            if signo in self._numbers:
                self._pending.append(signo)

    def close(self) -> None:
        """Everything as it was."""
        for signo, handler in self._former.items():
            _signal.signal(signo, handler)
        _signal.set_wakeup_fd(self._former_fd)
        _signal.pthread_sigmask(_signal.SIG_SETMASK, self._mask)
        os.close(self._read)
        os.close(self._write)
