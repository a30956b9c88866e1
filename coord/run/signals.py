"""How the one thread of a runner takes signals and news of its socket: blocked, and waited for by name.

Who sent a signal decides what happens to it. What came from the terminal (`from_terminal`) reached the whole
process group, so the command has it already; anything else was meant for the runner alone and is passed on.

Waiting is sigwaitinfo under an interval timer, not sigtimedwait: CPython's sigtimedwait returns an
uninitialised record when the process was stopped past the deadline, and what lies there can look like a
signal of the set (seen: INT), which would then be passed on to a command that nobody interrupted.
"""

from __future__ import annotations

import fcntl
import os
import sys
import time

from coord.run import prctl

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal as _signal
    from types import TracebackType

    from coord.run.portable import Handlers
else:
    import _signal  # the module `signal` turns every number into an enum, and importing enum costs 3 ms

SIGHUP = int(_signal.SIGHUP)
SIGINT = int(_signal.SIGINT)
SIGQUIT = int(_signal.SIGQUIT)
SIGKILL = int(_signal.SIGKILL)
SIGUSR1 = int(_signal.SIGUSR1)
SIGUSR2 = int(_signal.SIGUSR2)
SIGALRM = int(_signal.SIGALRM)
SIGTERM = int(_signal.SIGTERM)
SIGCHLD = int(_signal.SIGCHLD)
SIGCONT = int(_signal.SIGCONT)
SIGSTOP = int(_signal.SIGSTOP)
SIGTSTP = int(_signal.SIGTSTP)
SIGTTIN = int(_signal.SIGTTIN)
SIGTTOU = int(_signal.SIGTTOU)
SIGIO = int(_signal.SIGIO)

# What a command gets passed on when it was sent to the runner alone.
FORWARDED = frozenset({SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGTERM, SIGCONT, SIGTSTP})
# What a terminal stops a job with: Ctrl-Z, and the background job that reads from it (or writes, with `stty tostop`).
STOPPING = frozenset({SIGTSTP, SIGTTIN, SIGTTOU})
WATCHED = FORWARDED | STOPPING | {SIGCHLD, SIGIO}
# What ends a runner that still waits for its slot.
ENDING = frozenset({SIGHUP, SIGINT, SIGQUIT, SIGTERM})

SI_KERNEL = 0x80
_NO_SIGTIMEDWAIT = not hasattr(_signal, "sigwaitinfo")


class Event:
    """One signal taken. `pid` and `uid` are the sender's, 0 when the kernel sent it or nobody knows."""

    __slots__ = ("from_terminal", "pid", "signo", "uid")

    def __init__(self, signo: int, from_terminal: bool = False, pid: int = 0, uid: int = 0) -> None:
        self.signo = signo
        self.from_terminal = from_terminal
        self.pid = pid
        self.uid = uid


class Signals:
    """While entered, the signals of `WATCHED` do nothing by themselves: `wait` returns them one by one.

    Signals that were ignored at the start (nohup, a background job of a script) stay ignored and are never
    returned. `original` is the mask to give to a command. Only for the main thread of a process.
    `portable` forces the way used where sigwaitinfo is missing (macOS).
    """

    portable = _NO_SIGTIMEDWAIT

    def __init__(self, portable: bool | None = None) -> None:
        if portable is not None:
            self.portable = portable
        self.original: set[int] = set()
        self.ignored: frozenset[int] = frozenset()
        self.numbers: frozenset[int] = WATCHED
        self._child_ignored = False
        self._watched: set[int] = set()
        self._handlers: Handlers | None = None

    def __enter__(self) -> Signals:
        ignored = {signo for signo in WATCHED if _signal.getsignal(signo) == _signal.SIG_IGN}
        self._child_ignored = SIGCHLD in ignored
        if self._child_ignored:
            # An ignored SIGCHLD makes the kernel reap children itself: their status would be lost.
            _signal.signal(SIGCHLD, _signal.SIG_DFL)
        self.ignored = frozenset(ignored - {SIGCHLD, SIGIO})
        self.numbers = WATCHED - self.ignored
        if self.portable:
            from coord.run.portable import Handlers

            self.original = set(_signal.pthread_sigmask(_signal.SIG_BLOCK, ()))
            self._handlers = Handlers(self.numbers - {SIGIO})
        else:
            self.numbers |= {SIGALRM}
            self.original = set(_signal.pthread_sigmask(_signal.SIG_BLOCK, self.numbers))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for fd in tuple(self._watched):
            self.unwatch(fd)
        if self._handlers is not None:
            self._handlers.close()
            self._handlers = None
        else:
            _signal.setitimer(_signal.ITIMER_REAL, 0)
            # Our own clock and socket news must not kill the process once they are unblocked.
            while _signal.sigtimedwait((SIGALRM, SIGIO), 0) is not None:
                pass
        if self._child_ignored:
            _signal.signal(SIGCHLD, _signal.SIG_IGN)
        _signal.pthread_sigmask(_signal.SIG_SETMASK, self.original)

    # -- the socket

    def watch(self, fd: int) -> None:
        """From now on news on this socket is an event SIGIO, and one comes at once.

        SIGIO tells of changes, not of states, and merges: on each one read until there is nothing more.
        Cheap to repeat before every wait, which is how a new connection with the old one's number is noticed.
        """
        self._watched.add(fd)
        flags = fcntl.fcntl(fd, fcntl.F_GETFL)
        if self._handlers is None and not flags & os.O_ASYNC:
            fcntl.fcntl(fd, fcntl.F_SETOWN, os.getpid())
            fcntl.fcntl(fd, fcntl.F_SETFL, flags | os.O_ASYNC)
            # What arrived before O_ASYNC was set raised nothing; this first one makes the caller look.
            os.kill(os.getpid(), SIGIO)

    def unwatch(self, fd: int) -> None:
        """No more news of this socket; harmless when it is closed or was never watched."""
        if fd in self._watched:
            self._watched.discard(fd)
            if self._handlers is None:
                try:
                    fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) & ~os.O_ASYNC)
                except OSError:
                    return

    # -- waiting

    def wait(self, timeout_s: float | None) -> Event | None:
        """The next signal, or None after `timeout_s` seconds (None: never); 0 or less only looks."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        while True:
            left = None if deadline is None else deadline - time.monotonic()
            if self._handlers is not None:
                return self._take_handled(left)
            if left is not None and left <= 0:
                info = _signal.sigtimedwait(self.numbers, 0)
                if info is None:
                    return None
            else:
                if left is not None:
                    # Never 0 after rounding to microseconds: that would disarm the timer and wait for ever.
                    _signal.setitimer(_signal.ITIMER_REAL, max(left, 0.001))
                info = _signal.sigwaitinfo(self.numbers)
            if info.si_signo != SIGALRM:
                return Event(info.si_signo, info.si_code == SI_KERNEL, info.si_pid, info.si_uid)

    def _take_handled(self, left: float | None) -> Event | None:
        assert self._handlers is not None
        signo = self._handlers.take(left, self._watched)
        if signo is None:
            return None
        # Nothing tells who sent it. A terminal sends these three to its foreground group only, and these two to others.
        guess = signo in (SIGTTIN, SIGTTOU) or (signo in (SIGINT, SIGQUIT, SIGTSTP) and in_foreground())
        return Event(signo, guess)

    # -- handing over

    def hold(self) -> set[int]:
        """Block everything watched around a fork; the answer is the mask to set again in the parent.

        A handler that ran in the forked child would write to the pipe it shares with the parent.
        """
        return set(_signal.pthread_sigmask(_signal.SIG_BLOCK, self.numbers))

    def release(self, mask: set[int]) -> None:
        """In the parent: end what `hold` began."""
        _signal.pthread_sigmask(_signal.SIG_SETMASK, mask)

    def hand_over(self) -> None:
        """In a forked child: dispositions and mask as the runner's caller had them, ready for exec.

        SIGPIPE and SIGXFSZ are default: Python ignores them at its start. A signal that came since the fork
        acts here, by its default action, as it would on the command.
        """
        for signo in WATCHED:
            if callable(_signal.getsignal(signo)):
                _signal.signal(signo, _signal.SIG_DFL)
        undo_python()
        if self._child_ignored:
            _signal.signal(SIGCHLD, _signal.SIG_IGN)
        _signal.pthread_sigmask(_signal.SIG_SETMASK, self.original)

    def stop_self(self) -> None:
        """Stop this process as TSTP does, so that the shell sees it; returns when it is continued.

        Returns at once when nobody could continue it (an orphaned process group), or when the CONT that
        belongs to the stop has come already: after it, nobody would send another.
        """
        if SIGCONT in _signal.sigpending() or (self._handlers and self._handlers.holds(SIGCONT)):
            return
        handler = _signal.signal(SIGTSTP, _signal.SIG_DFL)
        try:
            os.kill(os.getpid(), SIGTSTP)
            mask = _signal.pthread_sigmask(_signal.SIG_UNBLOCK, {SIGTSTP})
            _signal.pthread_sigmask(_signal.SIG_SETMASK, mask)
        finally:
            _signal.signal(SIGTSTP, handler)


def default_interrupt() -> None:
    """Until `Signals` takes it, INT ends this process as any other program: Python would show a traceback."""
    if _signal.getsignal(SIGINT) is _signal.default_int_handler:  # ignored (nohup, `&` in a script) stays so
        _signal.signal(SIGINT, _signal.SIG_DFL)


def undo_python() -> None:
    """Default again what Python ignores at its start: a command must die of a closed pipe as it would without us."""
    _signal.signal(_signal.SIGPIPE, _signal.SIG_DFL)
    _signal.signal(_signal.SIGXFSZ, _signal.SIG_DFL)


def in_foreground() -> bool:
    """Is this process group the one the terminal talks to, so that a shell waits for us to end or stop?"""
    for fd in (0, 2, 1):
        try:
            return os.tcgetpgrp(fd) == os.getpgrp()
        except OSError:
            continue
    try:
        fd = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(fd) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(fd)


def die_by(signo: int) -> None:
    """End this process by that signal without a core file, so that the shell sees 128 + n. Does not return.

    Flush your streams first. A process that no signal kills (the first of a container) exits with 128 + n.
    """
    try:
        from resource import RLIMIT_CORE, getrlimit, setrlimit

        setrlimit(RLIMIT_CORE, (0, getrlimit(RLIMIT_CORE)[1]))
    except (ImportError, OSError, ValueError):
        pass
    # A core handler that is a program (systemd-coredump, apport) is not held off by the limit, but by this.
    if sys.platform.startswith("linux"):
        prctl.prctl(prctl.PR_SET_DUMPABLE, 0)
    if signo not in (SIGKILL, SIGSTOP):
        _signal.signal(signo, _signal.SIG_DFL)
    os.kill(os.getpid(), signo)
    _signal.pthread_sigmask(_signal.SIG_UNBLOCK, {signo})
    os._exit(128 + signo)
