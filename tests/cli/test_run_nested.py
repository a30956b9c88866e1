"""Runs inside runs: the slot that an ancestor holds is enough, and a wait that could never end is refused."""

from __future__ import annotations

import os

from coord.server import embedded
from tests.cli.place import Place, finished, one_line
from tests.waiting import Awake, until


def test_same_queue(place: Place) -> None:
    """A run on a queue that its caller holds goes on inside that slot, at once, to any depth."""
    show = "echo $OMP_COORD_JOB $OMP_COORD_FENCE"
    script = f"omp-coord run q -- omp-coord run q -- sh -c '{show}'; {show}"
    out, err = finished(place.run("q", "--", "sh", "-c", script), 0)
    assert err == ""
    (inner, inner_fence), (outer, outer_fence) = (line.split() for line in out.splitlines())
    assert inner != outer
    assert int(inner_fence) > int(outer_fence)
    insides = [event["inside"] for event in place.events("job_started")]
    assert insides == ["", outer, outer]
    place.expect_empty()


def test_exit_codes_pass_through(place: Place) -> None:
    """What ends the innermost command ends all of them: codes and signals."""
    finished(place.run("q", "--", "omp-coord", "run", "q", "--", "sh", "-c", "exit 9"), 9)
    finished(place.run("q", "--", "omp-coord", "run", "q", "--", "sh", "-c", "kill -TERM $$"), -15)
    place.expect_empty()


def test_other_queue(place: Place) -> None:
    """A run on another queue takes a slot there as usual, and waits for it."""
    place.queues(q={"slots": 1}, other={"slots": 1})
    gate = place.held(queue="other")
    outer = place.run("q", "--", "omp-coord", "run", "--quiet", "other", "--", "echo", "ran")
    place.until_jobs(1, "waiting")
    assert len(place.jobs("running")) == 2
    gate.open()
    assert finished(outer, 0) == ("ran\n", "")
    place.expect_empty()


def test_other_scope(place: Place) -> None:
    """A run in a folder of another scope is no nested one: it takes a slot there."""
    other = Place(place.den)
    gate = other.held()
    script = f"cd {other.folder} && omp-coord run --no-wait q -- echo ran"
    _, err = finished(place.run("q", "--", "sh", "-c", script), 75)
    assert "no slot of q is free" in one_line(err)
    gate.open()
    other.close()


def test_background_job_keeps_the_slot(place: Place) -> None:
    """A nested job that runs on after its caller has ended keeps the slot until it has ended, too."""
    gate = place.gate()
    inner = f"omp-coord run --quiet q -- sh -c 'echo $$ >>gate.up; read x <{gate.name}' >/dev/null 2>&1 &"
    script = f"{inner} until [ -s gate.up ]; do sleep 0.01; done"
    _, err = finished(place.run("q", "--", "sh", "-c", script), 0)
    assert "live on" in one_line(err)
    (job,) = place.until_jobs(1, "running")
    assert "inside" not in job
    finished(place.run("--no-wait", "q", "--", "true"), 75)
    waiting = place.run("--quiet", "q", "--", "echo", "ran")
    place.until_jobs(1, "waiting")
    gate.open()
    assert finished(waiting, 0) == ("ran\n", "")
    assert [event["from"] for event in place.events("job_inherited")] != []
    place.expect_empty()


def test_knot(place: Place) -> None:
    """Two jobs that each want the other's slot: the second wait is refused at once with 75 and a clear line, and the
    first goes on."""
    place.queues(a={"slots": 1}, b={"slots": 1})
    first_gate = place.gate("first")
    first = place.run(
        "a", "--", "sh", "-c", f"echo up >>first.up; read x <{first_gate.name}; omp-coord run --quiet b -- echo one"
    )
    until(lambda: place.read("first.up"), "the first holds a")
    second_gate = place.gate("second")
    second = place.run(
        "b", "--", "sh", "-c", f"echo up >>second.up; read x <{second_gate.name}; omp-coord run --quiet a -- echo two"
    )
    until(lambda: place.read("second.up"), "the second holds b")
    first_gate.open()
    place.until_jobs(1, "waiting")
    with Awake() as clock:
        second_gate.open()
        out, err = finished(second, 75)
    assert clock.seconds < 5
    assert out == ""
    assert "never end" in one_line(err)
    assert finished(first, 0) == ("one\n", "")
    place.expect_empty()


def test_no_knot_while_somebody_else_may_serve(place: Place) -> None:
    """While one holder is not tied up in the circle, the wait is allowed."""
    place.queues(a={"slots": 2}, b={"slots": 1})
    free = place.held(queue="a")
    gate = place.gate("first")
    tied = place.run(
        "a", "--", "sh", "-c", f"echo up >>first.up; read x <{gate.name}; omp-coord run --quiet b -- echo one"
    )
    until(lambda: place.read("first.up"), "it holds a")
    script = "omp-coord run --quiet a -- echo two"
    gate_b = place.gate("second")
    outer = place.run("b", "--", "sh", "-c", f"echo up >>second.up; read x <{gate_b.name}; {script}")
    until(lambda: place.read("second.up"), "it holds b")
    gate.open()
    place.until_jobs(1, "waiting")
    gate_b.open()
    place.until_jobs(2, "waiting")
    free.open()
    assert finished(outer, 0) == ("two\n", "")
    assert finished(tied, 0) == ("one\n", "")
    place.expect_empty()


def test_nested_without_waiting(place: Place) -> None:
    """`--no-wait` inside a slot of the same queue is never refused."""
    assert finished(place.run("q", "--", "omp-coord", "run", "--no-wait", "q", "--", "echo", "ran"), 0) == ("ran\n", "")


def test_environment(place: Place) -> None:
    """The command sees queue, job, lane, fence, scope and epoch, and all else of the caller's environment."""
    place.queues(q={"slots": 1, "lanes": {"quick": {"priority": 1}}})
    out, _ = finished(place.run("--lane", "quick", "q", "--", "env", env={"MINE": "a b\nc"}), 0)
    seen = dict(line.split("=", 1) for line in out.splitlines() if "=" in line)
    assert seen["OMP_COORD_QUEUE"] == "q"
    assert seen["OMP_COORD_LANE"] == "quick"
    assert seen["OMP_COORD_SCOPE"] == place.scope
    assert seen["OMP_COORD_EPOCH"] == place.redis("HGET", f"coord:{{{place.scope}}}:meta", "epoch")
    assert [seen["OMP_COORD_JOB"]] == list(place.ended())
    assert seen["OMP_COORD_FENCE"].isdigit()
    assert "MINE=a b\nc\n" in out
    assert seen["OMP_COORD_HOME"] == place.env["OMP_COORD_HOME"]
    assert set(seen) - set(place.env) == {
        "OMP_COORD_QUEUE", "OMP_COORD_LANE", "OMP_COORD_SCOPE", "OMP_COORD_EPOCH", "OMP_COORD_JOB", "OMP_COORD_FENCE", "MINE",
    }  # fmt: skip


def test_forged_environment(place: Place) -> None:
    """Nonsense in the variables of a nested run is no error, and no way into a slot."""
    gate = place.held()
    for job in ("deadbeefdeadbeef", "a|b", "../..", "\x1b[31m", "*", "ü"):
        env = {"OMP_COORD_JOB": job, "OMP_COORD_SCOPE": place.scope, "OMP_COORD_SESSION": job, "OMP_COORD_EPOCH": job}
        _, err = finished(place.run("--no-wait", "q", "--", "true", env=env), 75)
        assert "no slot of q is free" in one_line(err)
    gate.open()
    place.expect_empty()


def test_nested_after_a_flush(place: Place) -> None:
    """When the board was lost under a job, a run inside it still goes on inside its slot."""
    gate = place.gate()
    outer = place.run(
        "q", "--", "sh", "-c", f"echo up >>up; read x <{gate.name}; omp-coord run --quiet q -- echo inner"
    )
    until(lambda: place.read("up"), "it runs")
    place.redis("DEL", *place.redis("KEYS", f"coord:{{{place.scope}}}:*"))
    gate.open()
    assert finished(outer, 0) == ("inner\n", "")
    place.expect_empty()


def test_inside_when_the_server_is_away(own_place: Place) -> None:
    """A nested run whose outer job runs uncoordinated takes a slot of its own, and both end well."""
    place = own_place
    env = {"OMP_COORD_REDIS_SERVER": "/no/such/program"}
    script = "env -u OMP_COORD_REDIS_SERVER omp-coord run --quiet q -- echo inner"
    out, _ = finished(place.run("q", "--", "sh", "-c", script, env=env), 0)
    assert out == "inner\n"
    assert embedded.url(place.den.home)
    assert os.listdir(place.folder) == [".omp-coord.json"]
    place.expect_empty()
