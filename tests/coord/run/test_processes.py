"""The process table: who is who, who belongs to a job, and signals that hit nobody else."""

from __future__ import annotations

import os
import signal
import sys
import time

import pytest

from coord.run import processes, tree
from coord.run.processes import Proc
from coord.run.tree import Ending
from tests.coord.run.stage import Stage, first_line, gone, state
from tests.waiting import until


def test_a_recycled_pid_is_not_hit(stage: Stage) -> None:
    """A process with the pid of one that is gone, but another start, gets no signal."""
    proc = stage.start(["sleep", "1000"])
    now = processes.read(proc.pid)
    assert now is not None
    before = Proc(now.pid, now.ppid, str(int(now.start) - 1), now.name, now.state)
    assert processes.send(before, signal.SIGKILL) == processes.GONE
    assert proc.poll() is None
    assert processes.send(now, signal.SIGKILL) == processes.SENT
    assert proc.wait(30) == -signal.SIGKILL
    assert processes.send(now, signal.SIGKILL) == processes.GONE


def test_without_pidfd(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there are no process handles the start time is compared and the pid is used."""
    monkeypatch.delattr(os, "pidfd_open", raising=False)
    proc = stage.start(["sleep", "1000"])
    now = processes.read(proc.pid)
    assert now is not None
    assert processes.send(now, signal.SIGTERM) == processes.SENT
    assert proc.wait(30) == -signal.SIGTERM


def test_found_by_job(stage: Stage) -> None:
    """Processes of a job are found by their environment alone, wherever they are; no other job's are."""
    proc = stage.start(["sh", "-c", "(setsid sleep 1000 &) ; OMP_COORD_JOB=other-$OMP_COORD_JOB sleep 1001"])
    # (A process that is to be a `sleep` is a copy of the shell at first.)
    until(lambda: sorted(found.name for found in tree.find_by_job(stage.job)) == ["sh", "sleep"], "both are there")
    until(lambda: [found.name for found in tree.find_by_job("other-" + stage.job)] == ["sleep"], "and the other job's")
    assert tree.find_by_job(stage.job[:-1]) == []
    # What the finder of a dead runner does with them:
    other = tree.find_by_job("other-" + stage.job)[0]
    ending = Ending(lambda: tree.find_by_job(stage.job), grace=60)
    until(lambda: ending.tick(time.monotonic()) is None, "the job's processes have ended")
    assert proc.wait(30) == -signal.SIGTERM and state(other.pid) not in ("", "Z")
    os.kill(other.pid, signal.SIGKILL)


def test_after_kill_9_of_the_runner(stage: Stage) -> None:
    """When the runner is killed -9 its command dies; descendants that live on are found by the job's id."""
    proc = stage.drive("sh", "-c", "setsid sleep 1000 & echo up; wait")
    assert first_line(proc) == "up"
    until(lambda: len(stage.members("sleep")) == 1, "the grandchild runs")
    child = stage.child()
    proc.kill()
    until(lambda: gone(child), "the command is gone")
    assert [found.name for found in tree.find_by_job(stage.job)] == ["sleep"]


def test_odd_names(stage: Stage) -> None:
    """A process named to confuse (spaces, parentheses, escapes) is read right and shown harmless."""
    name = "a) R 1 (\x1b[m"
    path = os.path.join(stage.folder, name)
    os.symlink("/usr/bin/sleep" if os.path.exists("/usr/bin/sleep") else "/bin/sleep", path)
    proc = stage.start([path, "1000"])
    until(lambda: (found := processes.read(proc.pid)) and found.name == "a) R 1 (?[m", "it has that name")
    found = processes.read(proc.pid)
    assert found is not None and found.ppid == os.getpid()


def test_a_process_whose_first_thread_ended_lives(stage: Stage) -> None:
    """A process that the table calls a zombie, as its first thread alone has ended, is still ended by us."""
    code = (
        "import ctypes, threading, time\n"
        "threading.Thread(target=time.sleep, args=(1000,)).start()\n"
        "print('up', flush=True)\n"
        "ctypes.CDLL(None).pthread_exit(None)\n"
    )
    proc = stage.start([sys.executable, "-c", code])
    assert first_line(proc) == "up"

    def letter() -> str:
        with open(f"/proc/{proc.pid}/stat", encoding="ascii") as file:
            return file.read().rpartition(")")[2].split()[0]

    until(lambda: letter() == "Z", "its first thread has ended")
    now = processes.read(proc.pid)
    assert now is not None and now.alive
    assert processes.send(now, signal.SIGKILL) == processes.SENT
    assert proc.wait(30) == -signal.SIGKILL
