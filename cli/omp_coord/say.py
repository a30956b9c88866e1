"""Lines on stderr, cleaned of control characters, never an error of their own."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal as _signal
else:
    import _signal  # the module `signal` imports enum, which costs 3 ms

PATIENCE_S = 1.0
"""So long a runner waits for somebody to read on before it says something."""
ROOM = 4096
"""Bytes that a pipe takes at once when it takes any (PIPE_BUF)."""


def say(text: str) -> None:
    """Writes `omp-coord: text`; a closed or full stderr is no reason to fail."""
    write(_line(text))


def _line(text: str) -> bytes:
    from coord.names import clean

    return f"omp-coord: {clean(text)}\n".encode("utf-8", "replace")


def write(data: bytes) -> None:
    """As it is. A background job is not stopped for it (`stty tostop`): a stopped runner would keep no time limit."""
    mask = _signal.pthread_sigmask(_signal.SIG_BLOCK, {_signal.SIGTTOU})
    try:
        os.write(2, data)
    except OSError:
        pass
    finally:
        _signal.pthread_sigmask(_signal.SIG_SETMASK, mask)


def has_room(within_s: float = 0.0) -> bool:
    """Whether stderr takes `ROOM` bytes without making us wait: nobody reads a full pipe or a halted terminal (Ctrl-S)."""
    from select import POLLOUT, poll

    stderr = poll()
    stderr.register(2, POLLOUT)
    return bool(stderr.poll(int(within_s * 1000)))


class Notices:
    """The lines of a runner, which has more to do than to be read: hung in the notice of a time limit, because a pager reads
    no further, it would never end the command. What finds no room is said with the next line, or at the end."""

    def __init__(self) -> None:
        self._unsaid: list[bytes] = []
        self._stuck = False

    def say(self, text: str) -> None:
        data = _line(text)
        self._unsaid += [data[at : at + ROOM] for at in range(0, len(data), ROOM)]
        self._say_on()

    def end(self) -> None:
        """The last chance of what is still unsaid."""
        self._stuck = False
        self._say_on()

    def _say_on(self) -> None:
        while self._unsaid:
            if not has_room(0.0 if self._stuck else PATIENCE_S):
                self._stuck = True
                return
            self._stuck = False
            write(self._unsaid.pop(0))
