"""The bridge's process: its descriptors, its signals, its loop, its end.

One thread does everything, so requests are carried out in the order in which they came, and none is handed over between
threads. Another one sees that the host hangs up, whatever the first one waits for. After the end of input, or a signal, the
process has less than a second: then it is over, and others will see that it is gone.
"""

from __future__ import annotations

import os
import select
import signal
import threading
import time
from typing import TYPE_CHECKING

from coord.bridge.bridge import Bridge
from coord.bridge.rpc import Lines, Output

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coord.bridge.tools import Show

END_S = 0.8
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
HANG_UP = select.POLLHUP | getattr(select, "POLLRDHUP", 0)  # Linux tells of a socket that is half closed, too
UNWATCHED_S = 0.2
"""redis-py shows no descriptor to wait for, so its messages are looked for this often."""


class Bell:
    """Ends a wait of the main thread: another one rings it, or a signal."""

    def __init__(self) -> None:
        self.fd, self.mouth = os.pipe()
        for fd in (self.fd, self.mouth):
            os.set_blocking(fd, False)

    def ring(self) -> None:
        try:
            os.write(self.mouth, b".")
        except BlockingIOError:
            pass  # it rings already

    def quiet(self) -> None:
        try:
            os.read(self.fd, 4096)
        except BlockingIOError:
            pass


class Ending:
    """`asked` when a signal came. From then on, or from the end of input, the process has END_S left."""

    def __init__(self) -> None:
        self.asked = False

    def signalled(self, *_: object) -> None:
        self.asked = True
        self.hurry()

    def hurry(self) -> None:
        """Ends the process a little later, if it has not ended by itself: a server may not answer."""
        threading.Thread(target=_over, daemon=True).start()

    def watch(self, fd: int) -> None:
        """Hurries when the other side of a pipe or socket is gone, also while its lines are not read."""
        threading.Thread(target=self._watch, args=(fd,), daemon=True).start()

    def _watch(self, fd: int) -> None:
        poller = select.poll()
        poller.register(fd, HANG_UP)
        while not poller.poll():
            time.sleep(0.1)  # macOS may end the wait for input, which is not ours
        self.hurry()


def _over() -> None:
    time.sleep(END_S)  # so long the main thread may still leave the board; if it does, the process is gone before
    os._exit(0)


def main(show: Show, env: Mapping[str, str], program: str) -> int:
    """Runs until the end of input or a signal. `show` gives the text of a reading command; `program` is the absolute path
    of omp-coord, by which agents' commands are queued ("": not known)."""
    bell = Bell()
    # Rung by the signal itself: its handler runs between two steps of Python, and one that is due just before the wait
    # begins, or that another thread got, would wait with it.
    signal.set_wakeup_fd(bell.mouth, warn_on_full_buffer=False)
    ending = Ending()
    lines = Lines(0, ending.hurry)
    bridge = Bridge(Output(_own_stdout(), lines), env, show, bell.ring, program)
    for number in SIGNALS:
        signal.signal(number, ending.signalled)
    ending.watch(lines.fd)
    try:
        while not ending.asked and not bridge.out.broken and _step(bridge, lines, bell):
            pass
    finally:
        bridge.leave("signal" if ending.asked else "exit")
    os._exit(0)  # threads that wait for others' processes do not matter any more


def _step(bridge: Bridge, lines: Lines, bell: Bell) -> bool:
    """One line, or one wait for the next thing to do; false: it was the last."""
    if lines.inbox:
        bridge.take(lines.inbox.popleft())
    elif lines.ended:
        return False
    due = bridge.tick()
    if not lines.inbox and not lines.ended:
        _wait(bridge, lines, bell, due)
    return True


def _wait(bridge: Bridge, lines: Lines, bell: Bell, seconds: float) -> None:
    poller = select.poll()
    poller.register(lines.fd, select.POLLIN)
    poller.register(bell.fd, select.POLLIN)
    board = bridge.session.contact.board if bridge.session is not None else None
    fd = board.link.fileno() if board is not None else -1
    if fd >= 0:
        poller.register(fd, select.POLLIN)
    elif board is not None:
        seconds = min(seconds, UNWATCHED_S)
    ready: dict[int, int] = dict(poller.poll(max(0.0, seconds) * 1000 + 0.5))
    if lines.fd in ready:
        lines.fill()
    if bell.fd in ready:
        bell.quiet()


def _own_stdout() -> int:
    """A descriptor of the host's pipe that only protocol is written to: what else prints goes to stderr."""
    out = os.dup(1)
    os.dup2(2, 1)
    return out
