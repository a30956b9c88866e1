"""The caps hold, whatever races: what the jobs themselves wrote proves how many ran at once."""

from __future__ import annotations

import itertools
import random
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.cli.place import ENOUGH_S, Place, finished, marked, most_at_once
from tests.waiting import until

WORK = "head -c 300000 /dev/urandom >/dev/null"


def test_twelve_processes(place: Place) -> None:
    """Twelve processes send five jobs each through two slots: never more than two at once, every job exactly once."""
    place.queues(q={"slots": 2})
    place.write("job", f'echo "+ $OMP_COORD_JOB" >>marks; {WORK}; echo "- $OMP_COORD_JOB" >>marks\n')
    loop = "for i in 1 2 3 4 5; do omp-coord run --quiet q -- sh job || exit 1; done"
    loops = [place.sh(loop) for _ in range(12)]
    for proc in loops:
        assert finished(proc, 0, 180) == ("", "")
    assert most_at_once(place.lines("marks")) == 2
    assert len(set(place.lines("marks"))) == 120
    assert place.outcomes() == ["ok"] * 60
    place.expect_empty()


def test_eight_instant_jobs(place: Place) -> None:
    """Eight `true` through one slot, started together: a second in all on an idle machine."""
    finished(place.run("q", "--", "true"), 0)

    def together(command: str) -> float:
        begin = time.monotonic()
        finished(place.sh(f"for i in 1 2 3 4 5 6 7 8; do {command} & done; wait"), 0)
        return time.monotonic() - begin

    # Compared with what eight Pythons cost just before and after, since this machine may be busy with other tests.
    excess = []
    for _ in range(4):
        before = together(f"{sys.executable} -c pass")
        ours = together("omp-coord run --quiet q -- true")
        excess.append(ours - 4 * max(before, together(f"{sys.executable} -c pass")))
    assert min(excess) < 1
    place.expect_empty()


@pytest.mark.parametrize("order", ["fifo", "fair-share"])
def test_served_in_ticket_order(place: Place, order: str) -> None:
    """Who waits is served in the order of the tickets; under fair share each owner in turn."""
    place.queues(q={"slots": 1, "order": order})
    gate = place.held("--owner", "z")
    waiting = []
    for n in range(8):
        owner = "a" if n < 5 else "b"
        waiting.append(place.run("--quiet", "--owner", owner, "q", "--", "sh", "-c", f"echo {n} >>order"))
        place.until_jobs(n + 1, "waiting")
    gate.open()
    for proc in waiting:
        finished(proc, 0)
    expected = "01234567" if order == "fifo" else "05162734"
    assert "".join(place.lines("order")) == expected


def test_lanes(place: Place) -> None:
    """The lane with the higher priority is served first; a lane's `max` holds; a reserved place is kept for its lane."""
    lanes = {"quick": {"priority": 10, "reserved": 1}, "slow": {"max": 1}}
    place.queues(q={"slots": 3, "lanes": lanes})
    slow = place.held("--lane", "slow")
    finished(place.run("--no-wait", "--lane", "slow", "q", "--", "true"), 75)
    other = place.held()
    finished(place.run("--no-wait", "q", "--", "true"), 75)
    finished(place.run("--no-wait", "--lane", "quick", "q", "--", "true"), 0)
    quick = place.held("--lane", "quick")
    waiting = [place.run("--quiet", "q", "--", "sh", "-c", "echo normal >>order")]
    place.until_jobs(1, "waiting")
    waiting.append(place.run("--quiet", "--lane", "quick", "q", "--", "sh", "-c", "echo quick >>order"))
    place.until_jobs(2, "waiting")
    other.open()
    slow.open()
    quick.open()
    for proc in waiting:
        finished(proc, 0)
    assert sorted(place.lines("order")) == ["normal", "quick"]
    place.expect_empty()


def test_other_lane_runs_beside(place: Place) -> None:
    """A job that waits only for its own lane holds up nobody of another lane."""
    place.queues(q={"slots": 3, "lanes": {"slow": {"max": 1}}})
    gate = place.held("--lane", "slow")
    place.run("--quiet", "--lane", "slow", "q", "--", "true")
    place.until_jobs(1, "waiting")
    finished(place.run("--no-wait", "q", "--", "true"), 0)
    gate.open()
    place.expect_empty()


ENDS = [
    "exit 1",
    "kill -9 $$",
    "kill -TERM $$",
    "kill -9 $PPID",
    "exec /no/such",
    "sleep 100",
    "setsid sleep 0.2 & exit 0",
]


def test_cap_is_untouched_by_how_jobs_end(place: Place) -> None:
    """Failure, signals, a killed runner, a command that does not exist, a time limit: afterwards the cap is what it was."""
    place.queues(q={"slots": 2, "timeLimit": "400ms"})

    def one(end: str) -> None:
        place.run("--quiet", "q", "--", "sh", "-c", end).wait(ENOUGH_S)
        place.run("--quiet", "q", "--", "no-such-command").wait(ENOUGH_S)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(one, ENDS))
    place.queues(q={"slots": 2})
    gates = [place.held(), place.held()]
    finished(place.run("--no-wait", "q", "--", "true"), 75)
    for gate in gates:
        gate.open()
    place.expect_empty()


def test_many_ways_to_leave(place: Place) -> None:
    """Waiters that give up, expire, are cancelled and killed while the slot is handed over: nobody is lost, one at a
    time runs."""
    dice = random.Random(7)
    signals = itertools.cycle([2, 15, 9])
    jobs = []
    for n in range(24):
        wait = ["--wait", f"{dice.randrange(50, 400)}ms"] if n % 4 == 0 else []
        jobs.append(place.run("--quiet", *wait, "q", "--", *marked(WORK)))
        if n % 4 == 1:
            victim = dice.choice(jobs)
            if victim.poll() is None and not _runs(place, victim.pid):
                victim.send_signal(next(signals))
        if n % 4 == 2:
            for job in place.jobs("waiting")[:1]:
                place.board.job_cancel(job["id"], by="test")
    for proc in jobs:
        proc.wait(ENOUGH_S)
    # A victim that was granted just after it was looked at has died at its work: when that was, no mark says.
    whole = {line[2:] for line in place.lines("marks") if line.startswith("- ")}
    assert whole
    assert most_at_once([line for line in place.lines("marks") if line[2:] in whole]) == 1
    finished(place.run("q", "--", "true"), 0)
    until(
        lambda: not place.left() or (finished(place.run("q", "--", "true"), 0) and not place.left()), "nothing is left"
    )


def _runs(place: Place, pid: int) -> bool:
    return any(job["process"]["pid"] == pid and job["state"] != "waiting" for job in place.jobs())
