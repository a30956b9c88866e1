"""The runner itself is killed or stopped: the dead are not waited for, the living are never taken for dead."""

from __future__ import annotations

import os
import signal
import subprocess
import time

import psutil
import pytest

from tests.cli.place import ENOUGH_S, Place, finished, marked, most_at_once
from tests.coord.run.stage import gone, state
from tests.waiting import Awake, until


def kill(proc: subprocess.Popen[str]) -> None:
    proc.kill()
    proc.wait()


def test_killed_while_running(place: Place) -> None:
    """kill -9 of a runner: its command dies with it, and who waits has the slot within about two seconds."""
    gate = place.gate()
    running = place.run("q", "--", *gate.command())
    command = gate.waits()
    waiting = place.run("--quiet", "q", "--", "echo", "ran")
    place.until_jobs(1, "waiting")
    with Awake() as clock:
        kill(running)
        until(lambda: gone(command), "the command is gone")
        assert finished(waiting, 0) == ("ran\n", "")
    assert clock.seconds < 6  # about two, on a busy machine more, and long before the lease of 10 s is over
    assert [how["cause"] for how in place.ended().values() if how["how"] == "lost"] == ["its process is gone"]
    place.expect_empty()


def test_killed_while_waiting(place: Place) -> None:
    """kill -9 of waiters at the head of the line: the one behind them is served as soon as the slot is free."""
    gate = place.held()
    dead = [place.run("--quiet", "q", "--", "echo", "no") for _ in range(10)]
    place.until_jobs(10, "waiting")
    waiting = place.run("--quiet", "q", "--", "echo", "ran")
    place.until_jobs(11, "waiting")
    for proc in dead:
        kill(proc)
    place.until_jobs(1, "waiting")
    gate.open()
    assert finished(waiting, 0) == ("ran\n", "")
    place.expect_empty()


def test_killed_while_waiting_unseen(place: Place) -> None:
    """Waiters that die just before the slot is free cost whoever is behind them nothing: they are passed over."""
    gate = place.held()
    dead = [place.run("--quiet", "q", "--", "echo", "no") for _ in range(10)]
    place.until_jobs(10, "waiting")
    waiting = place.run("--quiet", "q", "--", "echo", "ran")
    place.until_jobs(11, "waiting")
    for proc in dead:
        kill(proc)
    with Awake() as clock:
        gate.open()
        assert finished(waiting, 0) == ("ran\n", "")
    assert clock.seconds < 4  # one grant to a dead one, had it to lapse, would cost 5 s
    until(lambda: finished(place.run("q", "--", "true"), 0) and not place.left(), "the dead are forgotten", ENOUGH_S)


def test_dead_holder_and_nobody_waits(place: Place) -> None:
    """`--no-wait` never finds the slot taken by a runner that is dead."""
    gate = place.gate()
    running = place.run("q", "--", *gate.command())
    command = gate.waits()
    kill(running)
    until(lambda: gone(command), "the command is gone")
    assert finished(place.run("--no-wait", "q", "--", "echo", "ran"), 0) == ("ran\n", "")
    place.expect_empty()


def test_grandchild_keeps_the_slot(place: Place) -> None:
    """A grandchild in a session of its own outlives the killed runner: the job is orphaned and keeps its slot, its pids
    are shown; when somebody waits it gets TERM, and its slot is given on when it has gone."""
    place.write(
        "grandchild", "trap 'echo \"- $OMP_COORD_JOB\" >>marks; exit' TERM; echo $$ >>up; while :; do sleep 0.05; done"
    )
    script = 'echo "+ $OMP_COORD_JOB" >>marks; setsid bash grandchild & wait'
    running = place.run("q", "--", "bash", "-c", script)
    until(lambda: place.read("up"), "the grandchild is up")
    (job,) = place.jobs("running")
    kill(running)
    waiting = place.run("--quiet", "q", "--", *marked())
    until(lambda: place.events("job_orphaned"), "the job is orphaned")
    finished(waiting, 0)
    assert place.read("up").strip() in place.events("job_orphaned")[0]["pids"].split()
    assert gone(int(place.read("up")))
    assert most_at_once(place.lines("marks")) == 1
    assert len(place.lines("marks")) == 4
    assert place.ended()[job["id"]]["how"] == "lost"
    place.expect_empty()


def test_orphan_that_nobody_waits_for(place: Place) -> None:
    """While an orphan lives, `--no-wait` finds the slot taken."""
    running = place.run("q", "--", "bash", "-c", "setsid sleep 1000 & echo $! >up; wait")
    until(lambda: place.read("up").strip(), "the grandchild is up")
    kill(running)
    grandchild = int(place.read("up"))
    assert finished(place.run("--no-wait", "q", "--", "echo", "ran"), 75)[0] == ""
    os.kill(grandchild, signal.SIGKILL)
    until(lambda: gone(grandchild), "the grandchild is gone")
    assert finished(place.run("--no-wait", "q", "--", "echo", "ran"), 0) == ("ran\n", "")
    place.expect_empty()


def _stopped_for(place: Place, pid: int, seconds: float) -> None:
    os.kill(pid, signal.SIGSTOP)
    until(lambda: state(pid) == "T", "it is stopped")
    begin = time.monotonic()
    until(lambda: time.monotonic() - begin > seconds, "longer than a lease has passed")


@pytest.mark.parametrize("watched", [False, True])
def test_stopped_runner_is_never_reaped(place: Place, watched: bool) -> None:
    """A runner stopped for longer than its lease keeps slot and fence, whether others wait and look on or nobody does."""
    place.config(leaseSeconds=2)
    gate = place.gate()
    running = place.run("q", "--", *gate.command())
    gate.waits()
    (job,) = place.jobs("running")
    waiting = [place.run("--quiet", "q", "--", "true") for _ in range(2 if watched else 0)]
    place.until_jobs(len(waiting), "waiting")
    _stopped_for(place, running.pid, 4.5)
    finished(place.run("--no-wait", "q", "--", "true"), 75)
    assert [(now["id"], now["fence"]) for now in place.jobs("running", "stopped")] == [(job["id"], job["fence"])]
    os.kill(running.pid, signal.SIGCONT)
    gate.open()
    for proc in [running, *waiting]:
        finished(proc, 0)
    assert place.events("job_lost") == []
    assert place.events("reregistered") == []
    place.expect_empty()


def test_stopped_waiter_keeps_its_place(place: Place) -> None:
    """A waiter stopped for longer than its lease is passed over at most; when it goes on it is at its old place."""
    place.config(leaseSeconds=2)
    gate = place.held()
    waiting = []
    for n in range(3):
        waiting.append(place.run("--quiet", "q", "--", "sh", "-c", f"echo {n} >>order"))
        place.until_jobs(n + 1, "waiting")
    tickets = [job["ticket"] for job in place.jobs("waiting")]
    _stopped_for(place, waiting[0].pid, 3)
    os.kill(waiting[0].pid, signal.SIGCONT)
    until(lambda: [job["ticket"] for job in place.jobs("waiting")] == tickets, "all stand in line as before")
    # A lease that lapses just now would have it passed over, until it has asked again.
    until(lambda: all(_lease_left(place, job["id"]) > 1.0 for job in place.jobs("waiting")), "all have just beaten")
    gate.open()
    for proc in waiting:
        finished(proc, 0)
    assert place.lines("order") == ["0", "1", "2"]
    assert place.events("job_lost") == []


def _lease_left(place: Place, job: str) -> float:
    """Seconds."""
    seconds, micros = place.redis("TIME")
    until_ms = float(place.redis("ZSCORE", place.board.keys["LEASES"], f"j|{job}") or 0)
    return until_ms / 1000 - int(seconds) - int(micros) / 1_000_000


def test_fence_never_goes_back(place: Place) -> None:
    """Each command sees a larger fence than the one before, also after its runner was killed."""
    script = "echo $OMP_COORD_FENCE >>fences"
    for end in (":", "kill -9 $PPID", "exit 3", "kill -9 $$", ":"):
        place.run("q", "--", "sh", "-c", f"{script}; {end}").wait(ENOUGH_S)
    fences = [int(line) for line in place.lines("fences")]
    assert fences == sorted(set(fences))
    assert len(fences) == 5


def test_dead_wrapper(place: Place) -> None:
    """A script killed around the runner leaves the runner to end its command as without it, and the slot is freed."""
    script = "omp-coord run q -- sh -c 'echo up; exec sleep 1000' | cat"
    wrapper = place.sh(script)
    assert wrapper.stdout is not None
    assert wrapper.stdout.readline() == "up\n"
    runner = next(proc for proc in place.members() if proc.pid == place.jobs("running")[0]["process"]["pid"])
    os.killpg(wrapper.pid, signal.SIGHUP)
    wrapper.wait(ENOUGH_S)
    until(lambda: not psutil.pid_exists(runner.pid), "the runner has ended")
    place.expect_empty()
