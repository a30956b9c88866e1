"""`status --watch`: shows the board again whenever it changes, until a signal or until nobody reads."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from coord.errors import Unavailable
from coord.reader import Reader
from omp_coord import terminal

EVERY_S = 1.0
"""At least this often the board is read, so that times go on and a server that comes up is found."""
AT_MOST_EVERY_S = 0.1
"""A busy board changes thousands of times a second; nobody reads that."""
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


class Ended(BaseException):
    """A signal that ends this process."""

    def __init__(self, signo: int) -> None:
        super().__init__(signo)
        self.signo = signo


def watch(reader: Reader, text_of: Callable[[dict[str, Any]], str], *, in_place: bool) -> None:
    """Shows `text_of` the board until nobody reads stdout; with `in_place` it is drawn over on the terminal, else a
    block is written for each change. A signal ends the process as without us, but with the terminal as it was. Raises
    what the first look raises; a server lost later is waited for."""
    status = reader.picture()
    screen = Screen() if in_place else None
    try:
        with _signals(screen):
            _loop(reader, status, screen.draw if screen else terminal.write, text_of, changes_only=screen is None)
    except BrokenPipeError:
        terminal.close_stdout()
    except Ended as ended:
        reader.close()
        signal.signal(ended.signo, signal.SIG_DFL)
        os.kill(os.getpid(), ended.signo)


def _loop(
    reader: Reader,
    status: dict[str, Any],
    show: Callable[[str], None],
    text_of: Callable[[dict[str, Any]], str],
    *,
    changes_only: bool,
) -> None:
    shown: dict[str, Any] | None = None
    while True:
        timeless = {**status, "now": 0}
        if not changes_only or timeless != shown:
            show(text_of(status))
            shown = timeless
        drawn_at = time.monotonic()
        reader.wait(EVERY_S, sys.stdout.fileno())
        time.sleep(max(0.0, drawn_at + AT_MOST_EVERY_S - time.monotonic()))  # a busy board would redraw without end
        try:
            status = reader.picture()
        except Unavailable:
            status = reader.away()


class Screen:
    """The terminal's other screen, so that what stood there before comes back."""

    def enter(self) -> None:
        self._send(b"\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[H\x1b[J")  # ?7l: a line too long is cut, for one line is one row

    def leave(self) -> None:
        self._send(b"\x1b[?7h\x1b[?25h\x1b[?1049l")

    def _send(self, sequence: bytes) -> None:
        """Past Python's buffer: a signal's handler calls this while that may be in the middle of a write."""
        try:
            os.write(sys.stdout.fileno(), sequence)
        except OSError:
            pass  # the terminal is gone

    def draw(self, text: str) -> None:
        """Draws over what is there; lines that do not fit are counted in the last one."""
        lines = text.splitlines()
        height = terminal.size()[1]
        if len(lines) > height:
            lines = [*lines[: height - 1], f"… {len(lines) - height + 1} more lines"]
        terminal.write("\x1b[H" + "\n".join(line + "\x1b[K" for line in lines) + "\x1b[J")


@contextmanager
def _signals(screen: Screen | None) -> Iterator[None]:
    """Ending signals become `Ended` (those ignored from the start stay so); a stop gives the terminal back meanwhile."""

    def end(signo: int, _: FrameType | None) -> None:
        raise Ended(signo)

    def stop(signo: int, _: FrameType | None) -> None:
        assert screen is not None
        screen.leave()
        signal.signal(signo, signal.SIG_DFL)
        os.kill(os.getpid(), signo)
        signal.signal(signo, stop)
        screen.enter()

    for signo in ENDING:
        if signal.getsignal(signo) is not signal.SIG_IGN:
            signal.signal(signo, end)
    try:
        if screen is not None:
            signal.signal(signal.SIGTSTP, stop)
            screen.enter()
        yield
    finally:
        for signo in ENDING:
            if signal.getsignal(signo) is end:
                signal.signal(signo, signal.SIG_IGN)  # a second Ctrl-C must not cut off the way back
        if screen is not None:
            screen.leave()
