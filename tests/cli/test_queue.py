"""`omp-coord queue list` and `queue cancel`."""

from __future__ import annotations

import os
import time

import pytest

from coord.server import decide
from tests.cli import golden
from tests.cli.den import NOBODY
from tests.cli.desk import Desk
from tests.cli.place import ENOUGH_S, Place, finished, one_line
from tests.waiting import until


def states(desk: Desk, queue: str) -> dict[str, str]:
    """The jobs of a queue with their states, those in line in order."""
    found = desk.json("queue", "list", "--json", queue)["queues"][queue]
    return {job["id"]: job["state"] for job in found["running"] + found["waiting"]}


# -- list


def test_list_as_json(desk: Desk) -> None:
    """The queues as in `status`, and nothing else."""
    desk.job("a1", "lint")
    seen = desk.json("queue", "list", "--json")
    assert list(seen) == ["version", "scope", "now", "queues"]
    assert seen["version"] == 1
    assert seen["queues"] == desk.json("status", "--json")["queues"]


def test_list_of_one_queue(desk: Desk) -> None:
    """Only the queue that was named, in service order."""
    desk.job("a1", "test")
    desk.job("b2", "test")
    desk.job("c3", "test", "quick")
    assert list(desk.json("queue", "list", "test", "--json")["queues"]) == ["test"]
    assert list(states(desk, "test")) == ["a1", "c3", "b2"]


def test_list_as_tables(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tables of `status`, of these queues."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    desk.job("a1", "lint", owner="ann@box:pts/3")
    out, err = desk.cli("queue", "list", "lint")
    assert err == ""
    lines = out.splitlines()
    lines[0] = "Board"
    lines[-1] = " ".join(word for word in lines[-1].split() if word[0].isalpha())  # without the times
    golden.check("queue-list.txt", "\n".join(lines) + "\n")


def test_list_of_an_unknown_queue(desk: Desk) -> None:
    """With a file: exit 2, the nearest spelling and those there are."""
    out, err = desk.cli("queue", "list", "lnt", code=2)
    assert out == ""
    assert 'has no queue "lnt". Did you mean "lint"? Known: lint, test.' in one_line(err)


def test_list_with_no_file(desk: Desk) -> None:
    """Without a file any name is a queue of one slot; a word that is no name is exit 2."""
    os.unlink(".omp-coord.json")
    queue = desk.json("queue", "list", "docs", "--json", "--scope", desk.scope)["queues"]["docs"]
    assert (queue["slots"], queue["running"], queue["waiting"]) == (1, [], [])
    assert "is not a name" in desk.cli("queue", "list", "a b", "--scope", desk.scope, code=2)[1]


# -- cancel


def test_cancel_a_waiting_job(desk: Desk) -> None:
    """It leaves the line, and the board says by whom and why."""
    desk.job("a1", "test")
    desk.job("b2", "test")
    out, err = desk.cli("queue", "cancel", "b2", "--reason", "wrong\x1b[31m branch")
    assert (out, err) == ("The job b2 of the queue test no longer waits.\n", "")
    assert states(desk, "test") == {"a1": "running"}
    told = desk.board.job_beat("b2", "b2", "waiting").fields
    assert (told["how"], told["cause"]) == ("cancelled", "wrong branch")
    assert f"@{os.uname().nodename}:" in told["by"]


def test_cancel_by_the_beginning_of_an_id(desk: Desk) -> None:
    """A beginning is enough when no other job has it; else they are listed, exit 2; a whole id is itself."""
    desk.job("ab12", "test")
    desk.job("ab34", "test", command="pytest -x")
    desk.job("ab3", "test", label="nightly \x1b[2J")
    _, err = desk.cli("queue", "cancel", "ab", code=2)
    assert err == (
        "omp-coord: 3 jobs begin with ab, give more of the id:\nomp-coord:   ab12 test: true\n"
        "omp-coord:   ab3 test: nightly \nomp-coord:   ab34 test: pytest -x\n"
    )
    desk.cli("queue", "cancel", "ab3")
    assert list(states(desk, "test")) == ["ab12", "ab34"]
    desk.cli("queue", "cancel", "ab34")
    assert list(states(desk, "test")) == ["ab12"]


@pytest.mark.parametrize("word", ["zz", "*", "-1", "a|b", "\udcff\n"])
def test_cancel_an_unknown_job(desk: Desk, word: str) -> None:
    """Exit 1 and one line, whatever the word is."""
    desk.job("a1")
    words = ["--", word] if word.startswith("-") else [word]
    out, err = desk.cli("queue", "cancel", *words, code=1)
    assert out == ""
    assert "there is no job" in one_line(err)
    assert states(desk, "lint") == {"a1": "running"}


def test_cancel_an_ended_job(desk: Desk) -> None:
    """Exit 1, and how and when it ended."""
    granted = desk.job("a1")
    desk.board.job_finish("a1", "a1", granted.fields["fence"], "ok")
    assert "the job a1 has ended already: it finished at " in one_line(desk.cli("queue", "cancel", "a1", code=1)[1])
    desk.job("b2", pid=desk.dead_pid())
    err = one_line(desk.cli("queue", "cancel", "b2", "--kill", code=1)[1])
    assert "the job b2 has ended already: it was lost at " in err
    assert err.endswith("(its process is gone)")


def test_cancel_a_running_job(desk: Desk) -> None:
    """Exit 1 and how to end it; nothing is changed."""
    desk.job("a1", command="ruff check .")
    err = one_line(desk.cli("queue", "cancel", "a1", code=1)[1])
    assert err == "the job a1 of the queue lint is running (ruff check .); --kill ends it"
    assert states(desk, "lint") == {"a1": "running"}
    assert desk.board.job_beat("a1", "a1", "running").fields["killBy"] == ""


def test_kill_a_running_job(desk: Desk) -> None:
    """Its runner is told by whom and why."""
    desk.job("a1")
    out, _ = desk.cli("queue", "cancel", "a1", "--kill", "--reason", "too slow")
    assert out == "The job a1 of the queue lint is being ended: its runner was told.\n"
    told = desk.board.job_beat("a1", "a1", "running").fields
    assert told["killBy"].startswith((os.environ.get("USER", ""), str(os.getuid())))
    assert told["killReason"] == "too slow"


def test_kill_an_orphan(desk: Desk) -> None:
    """When the runner is gone, its processes are ended from here, and the slot is free when the command returns."""
    desk.job("b0b0", "test", pid=desk.dead_pid())
    left = desk.process(["sleep", "60"], env={**os.environ, "OMP_COORD_JOB": "b0b0"})
    assert "is orphaned" in desk.cli("queue", "cancel", "b0b0", code=1)[1]
    out, _ = desk.cli("queue", "cancel", "b0b0", "--kill")
    assert out.startswith("The job b0b0 of the queue test is ended")
    assert left.wait(ENOUGH_S) == -15
    assert states(desk, "test") == {}
    assert desk.job("next", "test").verdict == "granted"


def test_kill_an_orphan_elsewhere(desk: Desk) -> None:
    """Processes of another machine cannot be ended from here: exit 1 says so."""
    desk.board._common["machine"] = "elsewhere"
    desk.job("b0b0", pid=1)
    entry = {"kind": "job", "id": "b0b0", "pid": 1, "instance": "b0b0", "is": "orphaned", "pids": [7]}
    start = desk.json("status", "--json")["queues"]["lint"]["running"][0]
    assert start["machine"] == "elsewhere"
    from coord.machine import start_of

    desk.board.vouched = [{**entry, "start": start_of(1) or "0"}]
    desk.board.board_sweep()
    assert "on another machine" in one_line(desk.cli("queue", "cancel", "b0b0", "--kill", code=1)[1])


def test_cancel_nothing(desk: Desk) -> None:
    """An empty word (a variable that was not set, an arrow key) is no beginning of an id: exit 2, also with a single job
    there."""
    desk.job("a1", "test")
    for word in ("", " ", "\x1b[A", "\x01"):
        assert "JOB is empty" in one_line(desk.cli("queue", "cancel", "--kill", word, code=2)[1])
    assert states(desk, "test") == {"a1": "running"}


def test_cancel_without_a_server(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """No server, no job: exit 1, and none is started; a named one that does not answer is exit 69."""
    assert one_line(desk.cli("queue", "cancel", "a", "--redis", NOBODY, code=69)[1])
    monkeypatch.delenv("OMP_COORD_REDIS_URL")
    monkeypatch.setattr(decide, "LOCAL_URL", NOBODY)
    assert "no server runs" in one_line(desk.cli("queue", "cancel", "a", code=1)[1])


# -- with real runners


def test_a_cancelled_waiter_leaves_with_75(place: Place) -> None:
    """Its `run` ends at once with exit 75 and says by whom and why."""
    place.held()
    waiter = place.run("--quiet", "q", "--", "true")
    job = place.until_jobs(1, "waiting")[0]["id"]
    finished(place.start(place.den.command, "queue", "cancel", job[:10], "--reason", "not today"), 0)
    _, err = finished(waiter, 75)
    assert "the wait for q was cancelled by " in one_line(err)
    assert err.endswith(": not today\n")


def test_a_killed_job_ends_with_143(place: Place) -> None:
    """Its `run` ends the command, says by whom and why, and dies of TERM; the next in line is served."""
    runner = place.run("q", "--", "sleep", "100")
    job = place.until_jobs(1, "running")[0]["id"]
    after = place.run("--quiet", "q", "--", "true")
    finished(place.start(place.den.command, "queue", "cancel", job, "--kill", "--reason", "enough"), 0)
    _, err = finished(runner, -15)
    assert one_line(err).startswith("ended by ")
    assert err.endswith(": enough\n")
    finished(after, 0)
    assert sorted(place.outcomes()) == ["killed", "ok"]


def test_the_command_of_a_killed_runner(place: Place) -> None:
    """kill -9 of a runner leaves a daemonized child: `status` shows an orphan, `cancel --kill` ends it."""
    runner = place.run("q", "--", "sh", "-c", "setsid sleep 100 & echo up; exec sleep 100")
    assert runner.stdout is not None
    assert runner.stdout.readline() == "up\n"
    job = place.until_jobs(1, "running")[0]["id"]
    runner.kill()
    runner.wait()
    out, _ = finished(place.start(place.den.command, "status"), 0)
    assert f"the runner of job {job} (q) is gone" in " ".join(out.split())
    finished(place.start(place.den.command, "queue", "cancel", job, "--kill"), 0)
    until(lambda: not place.members(), "all processes of the job are gone")
    place.expect_empty()


def test_cancel_on_another_board(desk: Desk) -> None:
    """A job of another board is found with --scope only."""
    desk.job("a1")
    os.chdir("/")
    desk.cli("queue", "cancel", "a1", "--kill", code=1)
    desk.cli("queue", "cancel", "a1", "--kill", "--scope", desk.scope)
    assert desk.board.job_beat("a1", "a1", "running").fields["killBy"]
