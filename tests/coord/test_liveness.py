"""coord.liveness: what a participant tells the board about others of its machine, and how it ends what they left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from coord import liveness
from coord.machine import machine_id, start_of
from coord.run import tree
from tests.waiting import until

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
HERE = machine_id()


class Board:
    """As much of a board as a look needs."""

    machine = HERE

    def __init__(self) -> None:
        self.vouched: list[dict[str, Any]] = []


@pytest.fixture
def start() -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Starts commands that are ended and reaped afterwards; `job` is the job that they belong to."""
    started: list[subprocess.Popen[bytes]] = []

    def run(*argv: str, job: str = "") -> subprocess.Popen[bytes]:
        env = {**os.environ, **({"OMP_COORD_JOB": job} if job else {})}
        process = subprocess.Popen(argv or ("sleep", "1000"), env=env, stdout=subprocess.PIPE)
        started.append(process)
        return process

    yield run
    for process in started:
        process.kill()
        process.communicate()


def one(process: subprocess.Popen[bytes], **fields: Any) -> dict[str, Any]:
    """A job record of a living process."""
    return {
        "id": f"job{process.pid}", "machine": HERE, "state": "running",
        "process": {"pid": process.pid, "start": start_of(process.pid), "instance": "token"}, **fields,
    }  # fmt: skip


def gone(**fields: Any) -> dict[str, Any]:
    """A job record of a process that has ended."""
    process = subprocess.Popen(["true"])
    found = one(process, **fields)
    found["process"]["start"] = found["process"]["start"] or "1"
    process.wait()
    return found


def test_a_living_one(start: Callable[..., Any]) -> None:
    """A living process is vouched for, by the very pid, start time and instance that was looked at."""
    job = one(start())
    assert liveness.look([job], HERE) == [{"kind": "job", "id": job["id"], **job["process"], "is": "live"}]


def test_a_dead_one() -> None:
    """A process that has ended is gone, and so is one whose pid is another's now."""
    recycled = {**gone(), "process": {"pid": os.getpid(), "start": "1", "instance": "token"}}
    assert [entry["is"] for entry in liveness.look([gone(), recycled], HERE)] == ["gone", "gone"]


def test_another_machines() -> None:
    """Nothing is said of who lives on another machine, or does not say where."""
    assert liveness.look([gone(machine="elsewhere"), gone(machine=None)], HERE) == []


def test_a_suspect_that_is_a_session(start: Callable[..., Any]) -> None:
    """A suspect's kind goes along; a session leaves no command behind."""
    (entry,) = liveness.look([gone(kind="session")], HERE)
    assert (entry["kind"], entry["is"]) == ("session", "gone")


@pytest.mark.parametrize("state", sorted(liveness.SEATED))
def test_a_command_that_outlives_its_runner(start: Callable[..., Any], state: str) -> None:
    """While a process of the job is left the job is orphaned, with the pids, in every state in which it has a slot."""
    job = gone(state=state)
    left = start(job=job["id"])
    until(lambda: tree.find_by_job(job["id"]), "the command runs")
    (entry,) = liveness.look([job], HERE)
    assert (entry["is"], entry["pids"]) == ("orphaned", [left.pid])
    left.kill()
    left.wait()
    assert [entry["is"] for entry in liveness.look([job], HERE)] == ["gone"]


def test_a_waiter_leaves_no_command(start: Callable[..., Any]) -> None:
    """A job that waits has no command: whatever carries its name, it is gone."""
    job = gone(state="waiting")
    start(job=job["id"])
    until(lambda: tree.find_by_job(job["id"]), "it runs")
    assert [entry["is"] for entry in liveness.look([job], HERE)] == ["gone"]


# -- a participant's look


def test_what_is_seen_is_said_once_and_not_forgotten(start: Callable[..., Any]) -> None:
    """A look for news keeps what is to be said of suspects, and replaces what it knows better; of itself nobody speaks."""
    board: Any = Board()
    living, dying, me = start(), start(), start()
    lookout = liveness.Lookout(one(me)["id"])
    assert not lookout.vouch(board, [one(living), one(dying), one(me)])
    assert {entry["id"]: entry["is"] for entry in board.vouched} == {
        one(living)["id"]: "live",
        one(dying)["id"]: "live",
    }
    seen = [one(living), one(dying)]
    dying.kill()
    dying.wait()
    assert lookout.vouch(board, seen, only_news=True)
    assert {entry["id"]: entry["is"] for entry in board.vouched} == {seen[0]["id"]: "live", seen[1]["id"]: "gone"}
    assert len(board.vouched) == 2


def test_nothing_new_is_not_urgent(start: Callable[..., Any]) -> None:
    """A look at the living has nothing to say."""
    board: Any = Board()
    assert not liveness.Lookout("me").vouch(board, [one(start())], only_news=True)
    assert board.vouched == []


# -- orphans

DEAF = (
    "import os, signal\n"
    "signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})\n"
    "os.write(1, b'up\\n')\n"
    "while signal.sigwait({signal.SIGTERM}): os.write(1, b'term\\n')\n"
)
"""A program that only says that it was asked to end. (By no handler: one that is due just before a `pause` waits with it.)"""


def test_orphans_are_ended_by_term(start: Callable[..., Any]) -> None:
    """What is left of a job gets TERM at once."""
    orphans = liveness.Orphans()
    left = start(job="orphan-term")
    found(orphans, "orphan-term")
    orphans.tick(time.monotonic())
    assert left.wait(30) == -signal.SIGTERM
    until(lambda: orphans.tick(time.monotonic()) is None, "nothing is left to do")


def test_orphans_that_ignore_term_are_killed(start: Callable[..., Any]) -> None:
    """What ignores TERM gets KILL ten seconds later, not before."""
    orphans = liveness.Orphans()
    left = start(sys.executable, "-c", DEAF, job="orphan-kill")
    assert left.stdout.readline() == b"up\n"
    found(orphans, "orphan-kill")
    began = time.monotonic()
    orphans.tick(began)
    assert left.stdout.readline() == b"term\n"
    orphans.tick(began + 9)
    assert left.poll() is None
    orphans.tick(began + 10.1)
    assert left.wait(30) == -signal.SIGKILL


def test_a_job_is_ended_once(start: Callable[..., Any]) -> None:
    """Seeing the same orphan again does not begin anew; who is gone or alive is none of its business."""
    orphans = liveness.Orphans()
    left = start(sys.executable, "-c", DEAF, job="orphan-once")
    assert left.stdout.readline() == b"up\n"
    for _ in range(3):
        found(orphans, "orphan-once")
        orphans.found([{"id": "a", "is": "gone"}, {"id": "b", "is": "live"}])
        orphans.tick(time.monotonic())
    first = left.stdout.readline()
    left.kill()
    assert first + left.stdout.read() == b"term\n"


def test_a_lookout_ends_the_orphans_it_sees(start: Callable[..., Any]) -> None:
    """A participant that sees an orphan tells the board and sees to its end by itself."""
    board: Any = Board()
    job = gone()
    left = start(job=job["id"])
    until(lambda: tree.find_by_job(job["id"]), "the command runs")
    lookout = liveness.Lookout("me")
    assert lookout.tick(time.monotonic()) == float("inf")
    assert lookout.vouch(board, [job], only_news=True)
    assert [entry["is"] for entry in board.vouched] == ["orphaned"]
    lookout.tick(time.monotonic())
    assert left.wait(30) == -signal.SIGTERM


def found(orphans: liveness.Orphans, job: str) -> None:
    pids = until(lambda: [proc.pid for proc in tree.find_by_job(job)], "the command is seen")
    orphans.found([{"id": job, "is": "orphaned", "pids": pids}])
