"""coord.machine: which machine this is, and whether a process is over. What cannot be seen is alive."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from coord import machine
from tests.coord.desk import ROOT
from tests.waiting import until

LINUX = sys.platform.startswith("linux")
pytestmark = pytest.mark.skipif(not LINUX, reason="reads /proc")


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    """A child that only waits; ended and reaped afterwards."""
    process = subprocess.Popen(["sleep", "1000"])
    until(lambda: machine.start_of(process.pid), "the child is there")
    yield process
    process.kill()
    process.wait()


def start(pid: int) -> str:
    found = machine.start_of(pid)
    assert found is not None
    return found


def test_this_process_is_alive() -> None:
    """A process sees itself, by the same start time each time it looks."""
    assert start(os.getpid()) == start(os.getpid())
    assert start(os.getpid()).isdigit()
    assert not machine.is_gone(os.getpid(), start(os.getpid()))


def test_alive_and_gone(sleeper: subprocess.Popen[bytes]) -> None:
    """A child is alive until it is killed and reaped."""
    began = start(sleeper.pid)
    assert not machine.is_gone(sleeper.pid, began)
    sleeper.kill()
    sleeper.wait()
    assert machine.is_gone(sleeper.pid, began)
    assert machine.start_of(sleeper.pid) is None


def test_another_process_with_the_same_pid(sleeper: subprocess.Popen[bytes]) -> None:
    """A pid whose process began at another time is somebody else: the one we knew is gone."""
    assert machine.is_gone(sleeper.pid, str(int(start(sleeper.pid)) - 1))


def test_a_zombie_is_gone(sleeper: subprocess.Popen[bytes]) -> None:
    """A process that has ended but was not reaped is gone."""
    began = start(sleeper.pid)
    sleeper.kill()
    until(lambda: machine.is_gone(sleeper.pid, began), "it is gone")
    assert machine.start_of(sleeper.pid) is None
    os.kill(sleeper.pid, 0)  # its pid is still taken


def test_a_stopped_process_is_alive(sleeper: subprocess.Popen[bytes]) -> None:
    """A stopped process is alive, however long."""
    began = start(sleeper.pid)
    sleeper.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, sleeper.pid, os.WSTOPPED | os.WNOWAIT)
    assert not machine.is_gone(sleeper.pid, began)


def test_a_process_whose_first_thread_has_ended() -> None:
    """The kernel shows it as a zombie while other threads of it run: it is alive until the last one ends."""
    script = (
        "import ctypes, sys, threading, time\n"
        "threading.Thread(target=sys.stdin.read).start()\n"
        "print(threading.active_count(), flush=True)\n"
        "ctypes.CDLL(None).syscall(60, 0)\n"  # exit, of this thread only
    )
    if os.uname().machine != "x86_64":
        pytest.skip("the number of the system call is known for x86-64 only")
    process = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    try:
        until(lambda: b") Z " in stat_of(process.pid), "its first thread has ended")
        assert not machine.is_gone(process.pid, start(process.pid))
    finally:
        process.kill()
        process.communicate()


def stat_of(pid: int) -> bytes:
    with open(f"/proc/{pid}/stat", "rb") as file:
        return file.read()


def test_a_name_with_spaces_and_parentheses(tmp_path: object) -> None:
    """The start time is found whatever the program is called."""
    path = f"{tmp_path}/a) Z 1 (b"
    os.symlink("/bin/sleep", path)
    process = subprocess.Popen([path, "1000"])
    try:
        until(lambda: b"a) Z 1 (b" in stat_of(process.pid), "the program runs")
        assert not machine.is_gone(process.pid, start(process.pid))
    finally:
        process.kill()
        process.wait()


def test_a_process_that_is_not_ours_to_signal(
    sleeper: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """EPERM means that the pid is taken: alive with the start time we know, gone with another."""

    def refused(pid: int, signo: int) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "kill", refused)
    assert not machine.is_gone(sleeper.pid, start(sleeper.pid))
    assert machine.is_gone(sleeper.pid, "1")


def test_hidden_processes(sleeper: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    """Where /proc is hidden (hidepid) a process whose pid is taken counts as alive, one whose pid is free as gone."""
    began = start(sleeper.pid)
    monkeypatch.setattr(machine, "_stat", lambda pid: None)
    assert not machine.is_gone(sleeper.pid, began)
    assert machine.start_of(sleeper.pid) is None
    sleeper.kill()
    sleeper.wait()
    assert machine.is_gone(sleeper.pid, began)


def test_a_process_that_never_saw_its_start(sleeper: subprocess.Popen[bytes]) -> None:
    """One that could not read its own start time says none; while its pid is taken it may be that one."""
    assert not machine.is_gone(sleeper.pid, "")
    sleeper.kill()
    sleeper.wait()
    assert machine.is_gone(sleeper.pid, "")


@pytest.mark.parametrize("pid", [2**31 - 1, 2**40])
def test_a_pid_that_cannot_be(pid: int) -> None:
    """A number that no process has is no crash."""
    machine.is_gone(pid, "1")
    assert machine.start_of(pid) is None


def test_threads_are_one_process() -> None:
    """Whoever looks from another thread sees the same process."""
    found: list[str] = []
    thread = threading.Thread(target=lambda: found.append(start(os.getpid())))
    thread.start()
    thread.join()
    assert found == [start(os.getpid())]


# -- the machine

ASK = [sys.executable, "-c", "from coord.machine import machine_id; print(machine_id())"]


def asked(*before: str) -> str:
    env = {**os.environ, "PYTHONPATH": ROOT}
    return subprocess.run([*before, *ASK], env=env, capture_output=True, text=True, check=True).stdout.strip()


def test_all_processes_of_a_machine_agree() -> None:
    """The same id in every process, made of the boot and the pid namespace."""
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        boot = file.read().strip()
    assert asked() == machine.machine_id() == f"{boot}/{os.stat('/proc/self/ns/pid').st_ino}"


@pytest.mark.parametrize("proc", [["--mount-proc"], []], ids=["own /proc", "the outer /proc"])
def test_a_container_is_another_machine(proc: list[str]) -> None:
    """Another pid namespace is another machine, though the boot is the same: its processes cannot be looked at."""
    unshare = ["unshare", "--pid", "--fork", *proc]
    if subprocess.run([*unshare, "true"], capture_output=True, check=False).returncode:
        pytest.skip("unshare --pid is not permitted here")
    inside = asked(*unshare)
    assert inside != machine.machine_id()
    assert inside.partition("/")[0] == machine.machine_id().partition("/")[0]


def test_a_machine_that_cannot_be_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where boot or namespace cannot be read the id is random, so nobody takes this process table for theirs; within a
    process it stays the same."""
    monkeypatch.setattr(machine, "_machine", None)
    monkeypatch.setattr(machine, "_read_machine", lambda: None)
    first = machine.machine_id()
    assert first.startswith("random-")
    assert machine.machine_id() == first
    monkeypatch.setattr(machine, "_machine", None)
    assert machine.machine_id() != first
