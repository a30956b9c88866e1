"""The command itself: found, started in the runner's own process group, watched until it ends.

It gets the caller's descriptors, working directory, terminal, signal mask and ignored signals, as without the
runner; ours are all close-on-exec. On Linux it is killed when the runner is, whatever kills that.

SpawnError(CoordError)
├── NotFound        exit 127: no such command
└── NotExecutable   exit 126: there, but it cannot be run
"""

from __future__ import annotations

import errno
import os
import select
import stat
import time

from coord.errors import CoordError
from coord.run import prctl
from coord.run.signals import SIGKILL, Signals, undo_python

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import NoReturn


class SpawnError(CoordError):
    """The command could not be started; `str(error)` is one line, `exit_code` what a shell would end with."""

    exit_code = 126


class NotFound(SpawnError):
    """There is no such command."""

    exit_code = 127


class NotExecutable(SpawnError):
    """The command is there but cannot be run."""


class Child:
    """The running command. `started` is monotonic seconds; `status` its raw wait status once it has ended."""

    __slots__ = ("_stop_is_news", "pid", "started", "status", "stopped")

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.started = time.monotonic()
        self.status: int | None = None
        self.stopped = False
        self._stop_is_news = False

    def poll(self) -> int | None:
        """Take all news of children, adopted ones too; the status once the command has ended, else None."""
        flags = os.WNOHANG | os.WUNTRACED | os.WCONTINUED
        while True:
            try:
                pid, status = os.waitpid(-1, flags)
            except ChildProcessError:
                if self.status is None:
                    # Somebody else in this process reaped it: it has ended, how is lost. Never wait for it.
                    self.status = 255 << 8
                return self.status
            if pid == 0:
                return self.status
            if pid == self.pid:
                self._take(status)

    def has_stopped(self) -> bool:
        """True once for each time that `poll` found the command stopped, unless it was continued since."""
        news, self._stop_is_news = self._stop_is_news, False
        return news

    def _take(self, status: int) -> None:
        self.stopped = self._stop_is_news = os.WIFSTOPPED(status)
        if not self.stopped and not os.WIFCONTINUED(status):
            self.status = status

    def send(self, signo: int) -> None:
        """Send the command itself a signal; nothing happens when it has ended."""
        if self.status is None:  # not reaped, so the pid is still its own
            try:
                os.kill(self.pid, signo)
            except (ProcessLookupError, PermissionError):
                return

    @property
    def exit_code(self) -> int | None:
        """Its exit code; None while it runs and when a signal ended it."""
        if self.status is None or not os.WIFEXITED(self.status):
            return None
        return os.WEXITSTATUS(self.status)

    @property
    def term_signal(self) -> int | None:
        """The signal that ended it, or None."""
        if self.status is None or not os.WIFSIGNALED(self.status):
            return None
        return os.WTERMSIG(self.status)


def become_subreaper() -> bool:
    """Orphans among our descendants become our children from now on; False where the system cannot do it.

    Call it just before `spawn`: a server that was started detached before stays a child of init.
    """
    return prctl.prctl(prctl.PR_SET_CHILD_SUBREAPER, 1)


def prepare() -> None:
    """Loads what `spawn` needs. Whoever waits for a slot does it then: after the grant it would delay the command by 2 ms."""
    prctl.load()


def keep_std_places() -> None:
    """Occupy descriptors 0 to 2 when the caller closed them; the command still finds them closed.

    Otherwise the next socket would become, say, descriptor 2, and a warning would be written to the server.
    """
    for fd in range(3):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number: this one


def spawn(argv: Sequence[str], env: Mapping[str, str], signals: Signals) -> Child:
    """Start `argv` (looked up on the PATH of `env`) and return it running. Raises NotFound or NotExecutable.

    A relative PATH entry or a path with a slash counts from the working directory. Main thread only.
    """
    command = _Command(argv, env)
    prctl.load()
    try:
        child, failure = _start(command, signals)
    except OSError as error:
        raise NotExecutable(f"{_shown(argv[0])} cannot be started: {error.strerror}.") from error
    if failure:
        os.waitpid(child.pid, 0)
        raise _explain(failure, argv[0], command.places)
    return child


def become(argv: Sequence[str], env: Mapping[str, str]) -> NoReturn:
    """Turns this process into the command, as if the runner had never been. Raises NotFound or NotExecutable."""
    undo_python()
    command = _Command(argv, env)
    raise _explain(command.become(), argv[0], command.places)


class _Command:
    """What to turn into, looked up before the fork."""

    __slots__ = ("argv", "env", "places")

    def __init__(self, argv: Sequence[str], env: Mapping[str, str]) -> None:
        self.argv = list(argv)
        self.env = env
        self.places = [argv[0]] if "/" in argv[0] else _look_up(argv[0], env)

    def become(self) -> int:
        """Try each place; returns only with the errno to report."""
        number = errno.ENOENT
        for place in self.places:
            try:
                os.execve(place, self.argv, self.env)  # noqa: S606 - no shell is the point
            except OSError as error:
                if error.errno == errno.ENOEXEC and _is_text(place):
                    script = f"./{place}" if place[0] == "-" else place  # no option of sh
                    os.execve("/bin/sh", ["/bin/sh", script, *self.argv[1:]], self.env)  # noqa: S606
                if error.errno not in (errno.EACCES, errno.ENOENT, errno.ENOTDIR):
                    return error.errno or errno.EINVAL
                if number != errno.EACCES:
                    number = error.errno
        return number


def _look_up(name: str, env: Mapping[str, str]) -> list[str]:
    """The files on PATH that `name` may mean, in the order in which a shell tries them."""
    found = []
    for folder in env.get("PATH", os.defpath).split(os.pathsep) if name else ():
        place = f"{folder or '.'}/{name}"
        try:
            if not stat.S_ISDIR(os.stat(place).st_mode):
                found.append(place)
        except (OSError, ValueError):
            continue
    if not found:
        raise NotFound(f"{_shown(name)} is not found on PATH. Check the spelling, or give its full path.")
    return found


def _is_text(place: str) -> bool:
    """Shells run a file without #! as a script, unless its first line holds a NUL (a foreign program)."""
    try:
        fd = os.open(place, os.O_RDONLY)
    except OSError:
        return False
    try:
        return b"\0" not in os.read(fd, 128).split(b"\n", 1)[0]
    finally:
        os.close(fd)


def _start(command: _Command, signals: Signals) -> tuple[Child, int]:
    """Fork; the child, and the errno its exec failed with (0: it runs)."""
    parent = os.getpid()
    read, write = os.pipe()  # both close-on-exec: the end of file says that exec worked
    mask = signals.hold()
    try:
        pid = os.fork()
        if pid == 0:
            _become(command, signals, parent, write)
        os.close(write)
        write = -1
        child = Child(pid)
        return child, _first_news(child, read)
    finally:
        signals.release(mask)
        os.close(read)
        if write >= 0:
            os.close(write)


def _become(command: _Command, signals: Signals, parent: int, pipe: int) -> NoReturn:
    """In the child: turn into the command, or write the errno to the pipe and exit."""
    number = errno.EINVAL  # an argument or a variable that no program can be given, such as one with a NUL
    try:
        prctl.prctl(prctl.PR_SET_PDEATHSIG, SIGKILL)
        if os.getppid() != parent:
            os._exit(126)  # the runner died before the line above could say that we go with it
        signals.hand_over()
        number = command.become()
    finally:
        # Also reached by an exception: a forked child never returns into the runner's own code.
        os.write(pipe, str(number).encode())
        os._exit(127 if number == errno.ENOENT else 126)


def _first_news(child: Child, read: int) -> int:
    """0 once the command runs, else the errno that its start failed with."""
    while not select.select([read], (), (), 0.1)[0]:
        # Stopped between fork and exec (Ctrl-Z in that moment): the caller must go on, and stop too.
        pid, status = os.waitpid(child.pid, os.WNOHANG | os.WUNTRACED)
        if pid:
            child._take(status)
            return 0
    return int(os.read(read, 16) or 0)


def _shown(command: str) -> str:
    from coord.names import clean

    return clean(command if len(command) <= 200 else f"{command[:199]}…") or "''"


def _explain(number: int, command: str, places: list[str]) -> SpawnError:
    """The error for a failed exec, as a sentence that says what to do."""
    name = _shown(command)
    place = places[-1]
    if number == errno.ENOENT:
        if os.path.lexists(place):
            return NotFound(f"{name} is there, but the interpreter its first line names is not.")
        return NotFound(f"{name} does not exist.")
    if os.path.isdir(place):
        return NotExecutable(f"{name} is a folder, not a command.")
    if number == errno.EACCES:
        return NotExecutable(f"{name} may not be executed. Make it executable with chmod +x.")
    if number == errno.ENOEXEC:
        return NotExecutable(f"{name} is no program for this machine.")
    return NotExecutable(f"{name} cannot be executed: {os.strerror(number)}.")
