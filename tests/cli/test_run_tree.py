"""The processes of a job: what a time limit ends, what is left when the command has ended, what is never touched."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import time
from collections.abc import Iterator

import psutil
import pytest

from coord.server import pids
from tests.cli.den import Den, den_of
from tests.cli.place import ENOUGH_S, Place, finished, one_line, output
from tests.waiting import Awake, until

QUICK = "from coord.run import tree; tree.Ending.__init__.__defaults__ = tree.after.__defaults__ = (0.4,)"
"""Less than 10 s between TERM and KILL."""


DEAF = "trap '' TERM; echo $$ >>up; while :; do sleep 1; done"


@pytest.fixture(scope="module")
def den() -> Iterator[Den]:
    with den_of(QUICK) as den:
        den.start()
        yield den


def names(place: Place) -> list[str]:
    return sorted(proc.name() for proc in place.members())


def test_time_limit_ends_the_whole_tree(place: Place) -> None:
    """Children in sessions of their own, double-forked, stopped, and deaf to TERM: all end at the time limit."""
    place.write("stop", "kill -STOP $$\n")
    place.write("deaf", DEAF)
    family = "setsid sleep 301 & (sleep 302 &) ; (setsid sh -c 'sleep 303 &') ; "
    family += "setsid bash stop & setsid bash deaf & sleep 304"
    running = place.run("--time-limit", "4s", "q", "--", "bash", "-c", family)  # time for the family to be complete
    until(lambda: place.read("up") and len(place.members()) >= 8, "the family is complete")
    _, err = finished(running, 124)
    told = re.match(r"time limit of 4 s reached after (\d+\.\d) s", one_line(err))
    assert told and float(told[1]) >= 4
    assert place.members() == []
    place.expect_empty()


def test_time_limit_counts_from_the_start(place: Place) -> None:
    """The wait for the slot is not part of the time limit."""
    gate = place.held()
    waiting = place.run("--quiet", "--time-limit", "3s", "q", "--", "echo", "ran")
    (job,) = place.until_jobs(1, "waiting")
    begin = time.monotonic()
    until(lambda: time.monotonic() - begin > 3.2, "it has waited for longer than its limit")
    gate.open()
    assert finished(waiting, 0) == ("ran\n", "")
    assert job["limitMs"] == 3000


def test_time_limit_of_a_stopped_command(place: Place) -> None:
    """A command that stopped itself is ended by its time limit like any other."""
    _, err = finished(place.run("--time-limit", "500ms", "q", "--", "sh", "-c", "kill -STOP $$"), 124)
    assert "time limit of 0.5 s" in err
    assert place.members() == []


def test_left_overs_are_kept(place: Place) -> None:
    """By default what the command leaves behind lives on, is named on stderr and in the outcome; the slot is free."""
    starts = "setsid sleep 301 >/dev/null 2>&1 & one=$!; setsid sleep 302 >/dev/null 2>&1 & two=$!"
    named = 'until [ "$(cat /proc/$one/comm) $(cat /proc/$two/comm)" = "sleep sleep" ]; do sleep 0.01; done'
    running = place.run("q", "--", "sh", "-c", f"{starts}; {named}")
    _, err = finished(running, 0)
    line = one_line(err)
    assert line.startswith("the command ended, its processes live on: ")
    assert line.count("sleep") == 2
    assert line.endswith("(left running)")
    assert names(place) == ["sleep", "sleep"]
    (event,) = place.events("job_finished")
    for proc in place.members():
        assert f"{proc.pid} sleep" in line
        assert f"{proc.pid} sleep" in event["leftovers"]
    place.expect_empty()


@pytest.mark.parametrize("deaf", [False, True])
def test_left_overs_are_killed(place: Place, deaf: bool) -> None:
    """`"leftovers": "kill"` ends them, those that ignore TERM as well, before the slot is given back."""
    place.queues(q={"slots": 1, "leftovers": "kill"})
    place.write("child", DEAF if deaf else "echo $$ >>up; exec sleep 1000")
    script = "setsid bash child & until [ -s up ]; do sleep 0.01; done; exit 3"
    _, err = finished(place.run("q", "--", "bash", "-c", script), 3)
    assert "ending them" in one_line(err)
    assert place.members() == []
    place.expect_empty()


def test_left_overs_are_waited_for(place: Place) -> None:
    """`"leftovers": "wait"` keeps the slot until they have ended by themselves; then the command's code counts."""
    place.queues(q={"slots": 1, "leftovers": "wait"})
    os.mkfifo(place.path("go"))
    running = place.run("q", "--", "sh", "-c", "setsid sh -c 'read x <go' & exit 3")
    assert running.stderr is not None
    assert "waiting for them" in running.stderr.readline()
    finished(place.run("--no-wait", "q", "--", "true"), 75)
    with open(place.path("go"), "w"):
        pass
    finished(running, 3)
    place.expect_empty()


@pytest.mark.parametrize("how", ["limit", "kill", "INT"])
def test_the_wait_for_left_overs_ends(place: Place, how: str) -> None:
    """Waiting for left-overs ends too: by the time limit (124), by `queue cancel --kill` (143), by INT (the code)."""
    place.queues(q={"slots": 1, "leftovers": "wait", "timeLimit": "1h"})
    limit = ["--time-limit", "3s"] if how == "limit" else []
    running = place.run(*limit, "q", "--", "sh", "-c", "setsid sleep 301 2>/dev/null >&2 & exit 3")
    assert running.stderr is not None
    assert "waiting for them" in running.stderr.readline()
    if how == "kill":
        place.board.job_cancel(place.jobs()[0]["id"], by="anna", kill=True)
    elif how == "INT":
        running.send_signal(signal.SIGINT)
    finished(running, {"limit": 124, "kill": -signal.SIGTERM, "INT": 3}[how])
    wanted = ["sleep"] if how == "INT" else []
    until(lambda: names(place) == wanted, f"{wanted} is left")  # it begins as `setsid`
    place.expect_empty()


def test_impatient_user_at_a_time_limit() -> None:
    """INT during the grace of a time limit ends what is left at once; it never leaves it running."""
    with den_of() as den:
        place = Place(den)
        place.write("child", DEAF)
        running = place.run("--time-limit", "3s", "q", "--", "bash", "-c", "setsid bash child & sleep 1000")
        until(lambda: place.read("up"), "the deaf one is up")
        deaf = int(place.read("up"))
        runner = psutil.Process(running.pid)
        until(lambda: [proc.pid for proc in runner.children()] == [deaf], "all others have ended")
        with Awake() as clock:
            running.send_signal(signal.SIGINT)
            finished(running, 124)
        assert clock.seconds < 6  # and not when the 10 s are over
        assert place.members() == []


def test_left_over_that_holds_the_output(place: Place) -> None:
    """A left-over that keeps the output pipe open does not keep the runner."""
    running = place.run("q", "--", "sh", "-c", "setsid sleep 301 & echo done")
    assert running.wait(ENOUGH_S) == 0
    until(lambda: names(place) == ["sleep"], "it lives on")  # it begins as `setsid`
    assert running.stdout is not None
    assert running.stdout.readline() == "done\n"


def test_nothing_of_ours_reaches_the_command(place: Place) -> None:
    """The command has the caller's descriptors and no other, and the caller's signal mask."""
    place.den.start()
    out, _ = finished(place.run("q", "--", "sh", "-c", "ls /proc/$$/fd; exec grep Sig[BI] /proc/self/status"), 0)
    plain, _ = finished(place.start("sh", "-c", "ls /proc/$$/fd; exec grep Sig[BI] /proc/self/status"), 0)
    assert out == plain


def test_first_call_of_all(own_place: Place) -> None:
    """The first call, which starts the server, says so in one line, and returns at once inside `$( )`."""
    place = own_place
    with Awake() as clock:
        out, err = finished(place.sh("x=$(omp-coord run q -- echo made); echo got $x"), 0)
    assert clock.seconds < 15  # the server, which would hold its output open, stays for a day
    assert out == "got made\n"
    assert "omp-coord server stop" in one_line(err)
    assert set(pids.read(place.den.home)) == {"server", "guard"}
    assert finished(place.sh("x=$(omp-coord run q -- echo made 2>&1); echo got $x"), 0) == ("got made\n", "")


@pytest.mark.parametrize("end", ["limit", "kill", "INT", "leftovers"])
def test_server_started_inside_a_job(own_place: Place, end: str) -> None:
    """The embedded server and its guard outlive the job in which they were started, however that ends."""
    place = own_place
    place.queues(q={"slots": 1, "leftovers": "kill"})
    inner = Place(place.den)
    script = (
        f"cd {inner.folder} && omp-coord run q -- true; cd; echo up; exec sleep {0 if end == 'leftovers' else 1000}"
    )
    # The outer job runs on a server of its own kind of trouble: none at all.
    limit = ["--time-limit", "8s"] if end == "limit" else []  # time to start the server
    nowhere = {"OMP_COORD_REDIS_URL": "redis://127.0.0.1:1"}
    outer = place.run(*limit, "q", "--", "env", "-u", "OMP_COORD_REDIS_URL", "bash", "-c", script, env=nowhere)
    assert outer.stdout is not None
    assert outer.stdout.readline() == "up\n"
    assert set(pids.read(place.den.home)) == {"server", "guard"}
    if end == "kill":
        os.kill(outer.pid, signal.SIGTERM)
    elif end == "INT":
        os.kill(outer.pid, signal.SIGINT)
    _, err = output(outer)
    assert outer.returncode == {"limit": 124, "kill": -15, "INT": -2, "leftovers": 0}[end]
    assert "live on" not in err
    assert set(pids.read(place.den.home)) == {"server", "guard"}
    assert inner.redis("PING") == "PONG"
    inner.close()


def test_runner_without_a_server_is_idle(own_den: Den) -> None:
    """A job that runs uncoordinated costs no processor time meanwhile."""
    with contextlib.closing(Place(own_den)) as place:
        env = {"OMP_COORD_REDIS_SERVER": "/no/such/program"}
        gate = place.gate()
        running = place.run("q", "--", *gate.command(), env=env)
        gate.waits()
        runner = psutil.Process(running.pid)
        begin, spent = time.monotonic(), sum(runner.cpu_times()[:2])
        until(lambda: time.monotonic() - begin > 1, "a second has passed")
        assert sum(runner.cpu_times()[:2]) - spent < 0.3
        gate.open()
        finished(running, 0)
