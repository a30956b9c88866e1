"""The server dies, hangs, forgets or never comes back while `omp-coord run` waits or runs: no job is stopped for it."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator

import psutil
import pytest

from coord.keys import Keys
from coord.server import embedded, pids
from tests.cli.den import Den, den_of
from tests.cli.place import ENOUGH_S, Place, finished, marked, most_at_once, one_line
from tests.servers import Server
from tests.waiting import Awake, until

HASTY = "from coord.run import job, runner; job.SERVERLESS_S = runner.SERVERLESS_S = 1.0"
"""A waiter gives up on its server after one second instead of thirty."""


@pytest.fixture
def server() -> Iterator[Server]:
    """A server that is asked for by name."""
    with Server("valkey9") as server:
        yield server


@pytest.fixture
def named(server: Server) -> Iterator[Place]:
    """A place on that server, whose waiters give it up after one second."""
    with den_of(HASTY) as den:
        place = Place(den, server.url)
        yield place
        place.close()


def kill_server(den: Den) -> int:
    """kill -9; its pid."""
    pid = den.server_pid()
    os.kill(pid, signal.SIGKILL)
    return pid


def restarted(den: Den, dead: int) -> None:
    until(lambda: embedded.url(den.home) and pids.read(den.home).get("server", dead) != dead, "the server is back")


def test_killed_while_waiting(own_place: Place) -> None:
    """kill -9 of the embedded server: a waiter starts it again at once and keeps its place; the holder its slot."""
    place = own_place
    gate = place.held()
    waiting = [place.run("--quiet", "q", "--", "sh", "-c", f"echo {n} >>order") for n in (1, 2)]
    (first, second) = place.until_jobs(2, "waiting")
    (holder,) = place.jobs("running")
    with Awake() as clock:
        restarted(place.den, kill_server(place.den))
    assert clock.seconds < 3  # another server than the embedded one would only now be given up
    place.until_jobs(2, "waiting")
    place.until_jobs(1, "running")
    now = {job["id"]: job for job in place.jobs()}
    assert [now[job["id"]]["ticket"] for job in (first, second)] == [first["ticket"], second["ticket"]]
    assert now[holder["id"]]["fence"] == holder["fence"]
    finished(place.run("--no-wait", "q", "--", "true"), 75)
    gate.open()
    for proc in waiting:
        assert finished(proc, 0)[0] == ""
    assert len(place.lines("order")) == 2
    place.expect_empty()


def test_killed_while_running(own_place: Place) -> None:
    """kill -9 of the embedded server under running jobs: they go on, and newcomers find the slots taken, also when it is
    a newcomer who starts the server again."""
    place = own_place
    place.queues(q={"slots": 2})
    gates = [place.held(), place.held()]
    kill_server(place.den)
    out, _ = finished(place.run("--no-wait", "q", "--", "echo", "ran"), 75)
    assert out == ""
    place.until_jobs(2, "running")
    gates[0].open()
    place.until_jobs(1, "running")
    finished(place.run("--no-wait", "q", "--", "true"), 0)
    gates[1].open()
    place.expect_empty()
    assert place.outcomes().count("ok") == 3


def test_killed_with_its_data(own_place: Place) -> None:
    """The server dies and its files are lost: everybody comes back with what they really have."""
    place = own_place
    gate = place.held()
    waiting = place.run("--quiet", "q", "--", "true")
    (waiter,) = place.until_jobs(1, "waiting")
    (holder,) = place.jobs("running")
    os.kill(place.den.server_pid(), signal.SIGSTOP)  # its files go first: whoever misses it starts the next at once
    shutil.rmtree(place.den.home.server() + "/appendonlydir", ignore_errors=True)
    dead = kill_server(place.den)
    restarted(place.den, dead)
    place.until_jobs(1, "running")
    place.until_jobs(1, "waiting")
    assert [(job["id"], job["ticket"]) for job in place.jobs()] == [
        (holder["id"], holder["ticket"]), (waiter["id"], waiter["ticket"]),
    ]  # fmt: skip
    gate.open()
    finished(waiting, 0)
    place.expect_empty()


def test_flushed_while_running(place: Place) -> None:
    """FLUSHALL under four running jobs and six newcomers never gives more than the four slots."""
    place.queues(q={"slots": 4})
    gates = [place.gate(f"gate-{n}") for n in range(4)]  # one each: opened, it lets everybody through who is there
    script = 'echo "+ $OMP_COORD_JOB" >>marks; read x <{}; echo "- $OMP_COORD_JOB" >>marks'
    running = [place.run("q", "--", "sh", "-c", script.format(gate.name)) for gate in gates]
    until(lambda: len(place.lines("marks")) == 4, "four run")
    place.redis("DEL", *Keys(place.scope).all())
    newcomers = [place.run("--quiet", "q", "--", *marked()) for _ in range(6)]
    place.until_jobs(4, "running")
    place.until_jobs(6, "waiting")
    assert len(place.lines("marks")) == 4
    for gate in gates:
        gate.open()
    for proc in [*running, *newcomers]:
        finished(proc, 0)
    assert most_at_once(place.lines("marks")) == 4
    assert len(place.lines("marks")) == 20
    place.expect_empty()


def test_flushed_while_waiting(place: Place) -> None:
    """FLUSHALL under a holder and waiters: the line is served in the old order."""
    gate = place.held()
    waiting = []
    for n in range(3):
        waiting.append(place.run("--quiet", "q", "--", "sh", "-c", f"echo {n} >>order"))
        place.until_jobs(n + 1, "waiting")
    place.redis("DEL", *Keys(place.scope).all())
    place.until_jobs(3, "waiting")
    place.until_jobs(1, "running")
    gate.open()
    for proc in waiting:
        finished(proc, 0)
    assert place.lines("order") == ["0", "1", "2"]


def test_scripts_flushed(own_place: Place) -> None:
    """SCRIPT FLUSH at any time is not noticed by anybody."""
    place = own_place
    place.den.start()
    place.queues(q={"slots": 2})
    script = "for i in 1 2 3 4 5; do omp-coord run --quiet q -- true || exit 1; done"
    loops = [place.sh(script) for _ in range(3)]

    def flushed() -> bool:
        place.redis("SCRIPT", "FLUSH")
        return all(proc.poll() is not None for proc in loops)

    until(flushed, "all jobs are through", ENOUGH_S)
    for proc in loops:
        assert finished(proc, 0) == ("", "")
    place.expect_empty()


def test_connections_killed(place: Place) -> None:
    """Broken connections are made anew: the slot is still held, the line still stands."""
    gate = place.held()
    waiting = place.run("--quiet", "q", "--", "echo", "ran")
    place.until_jobs(1, "waiting")
    before = place.jobs()
    for _ in range(3):
        place.redis("CLIENT", "KILL", "TYPE", "pubsub", "SKIPME", "yes")
        until(lambda: str(place.redis("PUBSUB", "CHANNELS", "*")).count(place.scope + "}:wake") == 2, "both are back")
    assert [(job["id"], job["ticket"], job["state"]) for job in place.jobs()] == [
        (job["id"], job["ticket"], job["state"]) for job in before
    ]
    gate.open()
    assert finished(waiting, 0) == ("ran\n", "")


def test_named_server_comes_back(named: Place, server: Server) -> None:
    """A server asked for by name dies and comes back: the running job goes on, the waiter keeps its place."""
    with den_of() as patient:
        place = Place(patient, server.url)
        gate = place.held()
        waiting = place.run("--quiet", "q", "--", "echo", "ran")
        (waiter,) = place.until_jobs(1, "waiting")
        server.restart()
        place.until_jobs(1, "running")
        assert [job["ticket"] for job in place.until_jobs(1, "waiting")] == [waiter["ticket"]]
        gate.open()
        assert finished(waiting, 0) == ("ran\n", "")
        place.expect_empty()
        place.close()


def test_named_server_stays_away(named: Place, server: Server) -> None:
    """A waiter whose server does not come back runs uncoordinated, and says so in one line; the running job ends well."""
    gate = named.held()
    waiting = named.run("--quiet", "q", "--", "sh", "-c", "echo ran; exit 4")
    named.until_jobs(1, "waiting")
    server.kill()
    out, err = finished(waiting, 4)
    assert out == "ran\n"
    assert one_line(err).startswith("no server for 1 s")
    assert one_line(err).endswith("running without coordination")
    gate.open()
    finished(named.started[0], 0)


def test_named_server_stays_away_strict(named: Place, server: Server) -> None:
    """With `--strict` the waiter ends with 69 instead."""
    named.held()
    waiting = named.run("--quiet", "--strict", "q", "--", "echo", "ran")
    named.until_jobs(1, "waiting")
    server.kill()
    out, err = finished(waiting, 69)
    assert out == ""
    assert "no server for 1 s" in one_line(err)


def test_registers_when_the_server_is_back(named: Place, server: Server) -> None:
    """A job that was let through without a server stands on the board as soon as there is one."""
    server.kill()
    gate = named.gate()
    running = named.run("q", "--", *gate.command())
    gate.waits()
    server.restart()
    (job,) = named.until_jobs(1, "running")
    assert job["command"].startswith("bash -c")
    gate.open()
    assert one_line(finished(running, 0)[1]).endswith("running without coordination")
    named.expect_empty()


def test_refused_at_the_start(named: Place, server: Server) -> None:
    """A server that has gone costs a run at most 3 s (and a little for its start)."""
    finished(named.run("q", "--", "true"), 0)
    server.kill()
    with Awake() as clock:
        out, err = finished(named.run("q", "--", "echo", "ran"), 0)
    assert clock.seconds < 5
    assert out == "ran\n"
    assert one_line(err).endswith("running without coordination")


def test_broken_board(place: Place) -> None:
    """A board on which somebody wrote nonsense stops no running job: it says so once and ends as its command did."""
    gate = place.gate()
    running = place.run("q", "--", *gate.command(code=6))
    gate.waits()
    place.redis("DEL", Keys(place.scope)["JOBS"])
    place.redis("SET", Keys(place.scope)["JOBS"], "nonsense")
    place.redis("CLIENT", "KILL", "TYPE", "pubsub", "SKIPME", "yes")
    assert running.stderr is not None
    assert "WRONGTYPE" in running.stderr.readline()
    gate.open()
    out, err = finished(running, 6)
    assert (out, err) == ("", "")
    place.redis("DEL", *Keys(place.scope).all())


def test_broken_record(place: Place) -> None:
    """A record of a holder that somebody overwrote: the next one says so and runs, with `--strict` it does not."""
    place.held()
    (job,) = place.jobs("running")
    place.redis("HSET", Keys(place.scope)["JOBS"], job["id"], "{nonsense")
    assert "not ours" in one_line(finished(place.run("--no-wait", "--strict", "q", "--", "true"), 69)[1])
    out, err = finished(place.run("--no-wait", "q", "--", "echo", "ran"), 0)
    assert (out, err.count("\n"), err.endswith("; running without coordination\n")) == ("ran\n", 1, True)
    place.redis("DEL", *Keys(place.scope).all())


def test_server_in_another_home(place: Place, server: Server) -> None:
    """`--redis` naming another server than the one where the scope lives: a warning, and it goes where the scope lives."""
    gate = place.held()
    out, err = finished(place.run("--redis", server.url, "--no-wait", "q", "--", "true"), 75)
    assert out == ""
    first, second = err.splitlines()
    assert "going where it lives" in first
    assert "no slot of q" in second
    gate.open()


def test_server_that_refuses(named: Place, server: Server) -> None:
    """A server that greets but refuses the scripts (rights taken away) is as good as none: it is asked now and then, a
    waiter gives it up, and the running job is not touched."""
    gate = named.held()
    runner = psutil.Process(named.started[0].pid)
    waiting = named.run("--quiet", "q", "--", "echo", "ran")
    named.until_jobs(1, "waiting")
    server.send(b"ACL SETUSER default -evalsha -eval")
    spent = sum(runner.cpu_times()[:2])
    out, err = finished(waiting, 0)
    assert out == "ran\n"
    assert "running without coordination" in one_line(err)
    assert sum(runner.cpu_times()[:2]) - spent < 1
    server.send(b"ACL SETUSER default +evalsha +eval")
    gate.open()
    finished(named.started[0], 0)
    until(
        lambda: finished(named.run("--quiet", "q", "--", "true"), 0) and not named.left(), "nothing is left", ENOUGH_S
    )
