"""Signals without a terminal: which ones reach the command, and what waiting may be relied on for."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

from tests.coord.run.stage import COUNTER, DRIVER, Stage, fresh_signals, state
from tests.waiting import until


def said(proc: subprocess.Popen[str], start: str) -> str:
    """The next line of its output that begins so."""
    assert proc.stdout is not None
    return next(line.strip() for line in proc.stdout if line.startswith(start))


def tell(proc: subprocess.Popen[str], text: str) -> None:
    assert proc.stdin is not None
    proc.stdin.write(text)
    proc.stdin.flush()


def test_sent_to_the_runner_reaches_the_command_once(stage: Stage, way: list[str]) -> None:
    """INT, TERM, HUP, QUIT and USR1 sent to the runner alone are passed on, and the command is waited for."""
    proc = stage.drive(*way, *COUNTER)
    said(proc, "up")
    for signo in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1):
        os.kill(proc.pid, signo)
        said(proc, f"got {int(signo)}")
    tell(proc, "how many\n")
    assert said(proc, "counted") == "counted 1=1 2=1 3=1 15=1 10=1"
    tell(proc, "end\n")
    assert proc.wait(30) == 0


def test_term_ends_both(stage: Stage, way: list[str]) -> None:
    """A command that does not catch TERM dies of it, and the runner in the same way."""
    proc = stage.drive(*way, "sleep", "1000")
    stage.child()
    proc.terminate()
    assert proc.wait(30) == -signal.SIGTERM


def test_nohup_stays(stage: Stage, way: list[str]) -> None:
    """Under nohup neither the runner nor the command takes notice of HUP."""
    proc = stage.start(["nohup", *DRIVER, *way, *COUNTER])
    said(proc, "up")
    proc.send_signal(signal.SIGHUP)
    proc.send_signal(signal.SIGUSR1)
    said(proc, "got 10")
    tell(proc, "how many\n")
    assert said(proc, "counted") == "counted 1=0 2=0 3=0 15=0 10=1"
    assert not [line for line in stage.log() if line.startswith("event 1 ")]


def test_ignored_children_at_start(stage: Stage, way: list[str]) -> None:
    """A caller that ignores SIGCHLD does not cost us the exit code."""

    def ignore() -> None:
        fresh_signals()
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)

    assert stage.drive(*way, "sh", "-c", "exit 5", preexec_fn=ignore).wait(30) == 5


def test_blocked_at_start(stage: Stage, way: list[str]) -> None:
    """A caller that left TERM blocked does not make the runner deaf: it passes TERM on; KILL ends both."""

    def block() -> None:
        fresh_signals()
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})

    proc = stage.drive(*way, *COUNTER, preexec_fn=block)
    said(proc, "up")
    proc.terminate()
    stage.logged("event 15")
    os.kill(stage.child(), signal.SIGKILL)
    assert proc.wait(30) == -signal.SIGKILL


def test_stop_without_a_shell_goes_on(stage: Stage, way: list[str]) -> None:
    """TSTP in an orphaned process group, where nobody could continue us, neither hangs nor loops."""
    proc = stage.drive(*way, *COUNTER)
    said(proc, "up")
    os.kill(proc.pid, signal.SIGTSTP)
    stage.logged("continued")
    os.kill(proc.pid, signal.SIGUSR1)
    said(proc, "got 10")
    assert len([line for line in stage.log() if line == "continued"]) == 1


WAITER = """
import os, sys
from coord.run.signals import Signals
with Signals(portable={portable}) as signals:
    print("up", flush=True)
    while True:
        event = signals.wait(0.1)
        if event is not None:
            print("event", event.signo, event.pid, flush=True)
"""


def waiter(stage: Stage, way: list[str]) -> subprocess.Popen[str]:
    proc = stage.start([sys.executable, "-c", WAITER.format(portable=bool(way))])
    said(proc, "up")
    return proc


def test_stopped_past_the_deadline(stage: Stage, way: list[str]) -> None:
    """A runner stopped for longer than it wanted to wait sees the CONT, and no signal that nobody sent."""
    proc = waiter(stage, way)
    for _ in range(3):
        os.kill(proc.pid, signal.SIGTERM)
        assert said(proc, "event").split()[1] == "15"
        os.kill(proc.pid, signal.SIGSTOP)
        until(lambda: state(proc.pid) == "T", "it is stopped")
        over = time.monotonic() + 0.15
        until(lambda over=over: time.monotonic() > over, "its deadline has passed")  # type: ignore[misc]
        os.kill(proc.pid, signal.SIGCONT)
        assert said(proc, "event").split()[1] == "18"
        os.kill(proc.pid, signal.SIGUSR1)
        assert said(proc, "event").split()[1] == "10"


def test_sender_is_known(stage: Stage) -> None:
    """An event carries the pid of who sent the signal."""
    proc = waiter(stage, [])
    os.kill(proc.pid, signal.SIGTERM)
    assert said(proc, "event") == f"event 15 {os.getpid()}"


TIMES = """
import time
from coord.run.signals import Signals
with Signals(portable={portable}) as signals:
    for wanted in (0, -1, 1e-9, 0.0004, 0.05):
        times = []
        for _ in range(3):  # a machine that stands still makes one of them longer
            begin = time.monotonic()
            assert signals.wait(wanted) is None
            times.append(time.monotonic() - begin)
        assert wanted <= min(times) < max(wanted, 0) + 0.5, (wanted, times)
"""


def test_timeouts(stage: Stage, way: list[str]) -> None:
    """`wait` returns None after its time, also after one too short for the timer; 0 and less only look."""
    proc = stage.start([sys.executable, "-c", TIMES.format(portable=bool(way))])
    assert proc.communicate(timeout=60) == ("", "")


SOCKET = """
import os, socket
from coord.run.signals import SIGIO, SIGTERM, Signals
ours, theirs = socket.socketpair()
ours.setblocking(False)
def news():
    while True:
        event = signals.wait(30)
        assert event is not None and event.signo == SIGIO, event and event.signo
        try:
            return ours.recv(100)
        except BlockingIOError:
            continue  # news of something else than arrived bytes
with Signals(portable={portable}) as signals:
    theirs.send(b"early")
    signals.watch(ours.fileno())
    assert news() == b"early"
    theirs.send(b"later")
    assert news() == b"later"
    os.kill(os.getpid(), SIGTERM)
    assert signals.wait(30).signo == SIGTERM
    signals.unwatch(ours.fileno())
    while signals.wait(0):
        pass  # older news
    theirs.send(b"unheard")
    assert signals.wait(0.05) is None
    signals.watch(ours.fileno())
    number = ours.fileno()
    ours.close()
    assert [event.signo for event in iter(lambda: signals.wait(0.05), None)] in ([], [SIGIO])
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    assert ours.fileno() == number
    signals.watch(number)
    theirs.send(b"anew")
    assert news() == b"anew"
    signals.watch(number)
    theirs.close()
"""


def test_news_of_a_socket(stage: Stage, way: list[str]) -> None:
    """A watched socket wakes the waiter for what came before and after; no trap is left behind."""
    proc = stage.start([sys.executable, "-c", SOCKET.format(portable=bool(way))])
    assert (proc.communicate(timeout=60), proc.returncode) == (("", ""), 0)


RESTORED = """
import os, signal
from coord.run.signals import Signals
signal.signal(signal.SIGUSR1, print)
signal.pthread_sigmask(signal.SIG_BLOCK, {{signal.SIGUSR2}})
def now():
    return [signal.getsignal(n) for n in range(1, 32)], signal.pthread_sigmask(signal.SIG_BLOCK, ())
before = now()
with Signals(portable={portable}) as signals:
    signals.wait(0.01)
assert now() == before
"""


def test_all_as_before(stage: Stage, way: list[str]) -> None:
    """Leaving the context gives handlers and mask back as they were."""
    proc = stage.start([sys.executable, "-c", RESTORED.format(portable=bool(way))])
    assert (proc.communicate(timeout=60), proc.returncode) == (("", ""), 0)
