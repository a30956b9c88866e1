"""A bounded soak of `omp-coord run`: everything that may happen to runners and their server, at random, under load.

OMP_COORD_CHAOS_SECONDS sets how long (10 by default). The seed is printed; OMP_COORD_CHAOS_SEED repeats its choices.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterator

import pytest

from coord.keys import Keys
from coord.server import embedded, pids
from tests.cli.den import Den, den_of
from tests.cli.place import Place, finished
from tests.waiting import until

SECONDS = float(os.environ.get("OMP_COORD_CHAOS_SECONDS", "10"))
SEED = int(os.environ.get("OMP_COORD_CHAOS_SEED", "0")) or random.randrange(1, 1 << 30)
SLOTS = 2
QUICK = "from coord.run import tree; tree.Ending.__init__.__defaults__ = tree.after.__defaults__ = (0.5,)"

JOB = """
echo "+ $OMP_COORD_JOB $$ $(cut -d' ' -f22 /proc/$$/stat)" >>marks
head -c $((RANDOM * 30)) /dev/urandom >/dev/null
case $((RANDOM % 12)) in
  0) echo "- $OMP_COORD_JOB" >>marks; exit 3 ;;
  1) echo "- $OMP_COORD_JOB" >>marks; kill -9 $$ ;;
  2) setsid sleep 0.2 & ;;
  3) omp-coord run --quiet q -- true ;;
esac
echo "- $OMP_COORD_JOB" >>marks
"""
"""A job that marks its begin and its end; in between it works, nests, leaves something behind, fails."""


class Soak:
    """The load, what is done to it, and what is watched meanwhile."""

    def __init__(self, place: Place, dice: random.Random) -> None:
        self.place, self.dice = place, dice
        self.runners: list[subprocess.Popen[str]] = []
        self.all: list[subprocess.Popen[str]] = []
        self.stopped: list[tuple[float, int]] = []
        self.server_down_until = 0.0

    def load(self) -> None:
        """Keeps about ten runners under way."""
        self.runners = [proc for proc in self.runners if proc.poll() is None]
        while len(self.runners) < 10:
            words = self.dice.choice(
                [[], [], ["--wait", "3s"], ["--time-limit", "2s"], ["--owner", "a"], ["--lane", "quick"]]
            )
            proc = self.place.run("--quiet", *words, "q", "--", "bash", "job", stdout=subprocess.DEVNULL)
            self.runners.append(proc)
            self.all.append(proc)

    def victim(self) -> subprocess.Popen[str] | None:
        alive = [proc for proc in self.runners if proc.poll() is None]
        return self.dice.choice(alive) if alive else None

    def kill_one(self) -> None:
        if proc := self.victim():
            proc.kill()

    def end_one(self) -> None:
        if proc := self.victim():
            proc.send_signal(self.dice.choice([signal.SIGINT, signal.SIGTERM, signal.SIGHUP]))

    def stop_one(self) -> None:
        if proc := self.victim():
            proc.send_signal(signal.SIGSTOP)
            self.stopped.append((time.monotonic() + self.dice.random() * 3, proc.pid))

    def cancel_one(self) -> None:
        with contextlib.suppress(Exception):  # the server may be away at this moment
            job = self.dice.choice(self.place.jobs())
            self.place.board.job_cancel(job["id"], by="chaos", kill=self.dice.random() < 0.5)

    def flush(self) -> None:
        with contextlib.suppress(Exception):
            self.place.redis("DEL", *Keys(self.place.scope).all())

    def flush_scripts(self) -> None:
        with contextlib.suppress(Exception):
            self.place.redis("SCRIPT", "FLUSH")

    def kill_server(self) -> None:
        pid = pids.read(self.place.den.home).get("server")
        if pid is not None:
            os.kill(pid, signal.SIGKILL)

    def cut_connections(self) -> None:
        with contextlib.suppress(Exception):
            self.place.redis("CLIENT", "KILL", "TYPE", "pubsub", "SKIPME", "yes")

    def hang_server(self) -> None:
        pid = pids.read(self.place.den.home).get("server")
        if pid is not None:
            os.kill(pid, signal.SIGSTOP)
            self.stopped.append((time.monotonic() + self.dice.random(), pid))

    def go_on(self, everybody: bool = False) -> None:
        """Continues whoever was stopped long enough."""
        now = time.monotonic()
        for entry in [entry for entry in self.stopped if everybody or entry[0] <= now]:
            self.stopped.remove(entry)
            with contextlib.suppress(ProcessLookupError):
                os.kill(entry[1], signal.SIGCONT)

    def alive_at_once(self) -> int:
        """How many jobs run now: they have begun, have not ended, and their process is alive."""
        open_jobs: dict[str, tuple[int, str]] = {}
        for line in self.place.lines("marks"):
            sign, job, *process = line.split()
            if sign == "+":
                open_jobs[job] = (int(process[0]), process[1])
            else:
                open_jobs.pop(job, None)
        return sum(_lives(*process) for process in open_jobs.values())


def _lives(pid: int, start: str) -> bool:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return False
    return fields[0] not in (b"Z", b"X") and fields[19].decode() == start


@pytest.fixture
def soaked() -> Iterator[Place]:
    with den_of(QUICK) as den:
        yield ready(den)


def ready(den: Den) -> Place:
    place = Place(den)
    place.queues(q={"slots": SLOTS, "lanes": {"quick": {"priority": 5}}})
    place.write("job", JOB)
    finished(place.run("--quiet", "q", "--", "true"), 0)
    return place


MILD: list[Callable[[Soak], None]] = [
    Soak.kill_one, Soak.end_one, Soak.stop_one, Soak.cancel_one, Soak.flush_scripts, Soak.cut_connections,
]  # fmt: skip
WILD: list[Callable[[Soak], None]] = [*MILD, Soak.flush, Soak.kill_server, Soak.hang_server]


@pytest.mark.parametrize("what", ["mild", "wild"])
def test_soak(soaked: Place, what: str) -> None:
    """Kills, stops, cancels, flushes and dead servers under load: never more than the slots run at once; at the end
    every runner has ended, nothing is left on the board, and the next job runs. (What the design lets through is let
    through here as well: jobs that give up on a hanging server run uncoordinated, and say so.)"""
    print(f"OMP_COORD_CHAOS_SEED={SEED}")
    soak = Soak(soaked, random.Random(SEED))
    actions = MILD if what == "mild" else WILD
    most = 0
    end = time.monotonic() + SECONDS / 2
    next_action = 0.0

    def over() -> bool:
        nonlocal most, next_action
        soak.load()
        soak.go_on()
        most = max(most, soak.alive_at_once())
        if time.monotonic() > next_action:
            next_action = time.monotonic() + soak.dice.random() * 0.4
            soak.dice.choice(actions)(soak)
        return time.monotonic() > end

    until(over, "the soak is over", SECONDS + 30)
    soak.go_on(everybody=True)
    uncoordinated = 0
    for proc in soak.all:
        _, err = proc.communicate(timeout=180)
        assert "Traceback" not in err or "KeyboardInterrupt" in err, err  # INT while Python itself starts
        uncoordinated += "without coordination" in err
    assert most <= SLOTS + uncoordinated, f"{most} ran at once, {uncoordinated} of them uncoordinated"
    if what == "mild":
        assert uncoordinated == 0
    until(lambda: not soaked.members(), "all that the jobs left behind has ended", 60)
    finished(soaked.run("q", "--", "true"), 0, 120)
    assert embedded.url(soaked.den.home)
    until(
        lambda: not soaked.left() or finished(soaked.run("--quiet", "q", "--", "true"), 0) is None,
        "nothing is left",
        60,
    )
