"""`omp-coord run` and the shell's job control: Ctrl-Z, fg, `&`, nohup, a terminal that is closed."""

from __future__ import annotations

import os
import signal

import psutil
import pytest

from tests.cli.place import Place, finished
from tests.cli.terminal import SUSP, status
from tests.coord.run.stage import COUNTER, state
from tests.waiting import until


def runner_of(job: dict[str, object]) -> int:
    process = job["process"]
    assert isinstance(process, dict)
    return int(process["pid"])


def test_ctrl_z_and_fg(place: Place) -> None:
    """Ctrl-Z stops the command; the board shows the job as stopped, it keeps its slot, and fg goes on where it was."""
    terminal = place.terminal()
    terminal.type("omp-coord run q -- " + " ".join(COUNTER) + "\n")
    terminal.expect("up\r\n")
    for _ in range(2):
        terminal.type(SUSP)
        terminal.expect("Stopped")
        terminal.expect("ready> ")
        (job,) = place.until_jobs(1, "stopped")
        finished(place.run("--no-wait", "q", "--", "true"), 75)
        terminal.type("fg\n")
        place.until_jobs(1, "running")
        terminal.type("how many\n")
        terminal.expect("counted 1=0 2=0 3=0 15=0")
        assert [now["id"] for now in place.jobs()] == [job["id"]]
    terminal.type("end\n")
    terminal.expect("ready> ")
    assert status(terminal) == 0
    place.expect_empty()


def test_ctrl_z_while_waiting(place: Place) -> None:
    """A waiter that is stopped holds nobody up: whoever waits behind it is served, and after fg it goes on waiting."""
    gate = place.held()
    terminal = place.terminal()
    terminal.type("omp-coord run q -- echo ra''n\n")
    (waiter,) = place.until_jobs(1, "waiting")
    terminal.type(SUSP)
    terminal.expect("Stopped")
    terminal.expect("ready> ")
    behind = place.run("--quiet", "q", "--", "echo", "behind")
    place.until_jobs(2, "waiting")
    gate.open()
    assert finished(behind, 0) == ("behind\n", "")
    until(lambda: place.jobs("away"), "it is passed over")
    assert place.jobs("away")[0]["ticket"] == waiter["ticket"]
    terminal.type("fg\n")
    terminal.expect("ran\r\n")
    terminal.expect("ready> ")
    place.expect_empty()


def test_command_that_stops_itself(place: Place) -> None:
    """A command that stops only itself (an editor's suspend) gives the prompt back, and fg continues it."""
    terminal = place.terminal()
    terminal.type("omp-coord run q -- sh -c 'kill -STOP $$; echo we''nt on'\n")
    terminal.expect("Stopped")
    terminal.expect("ready> ")
    place.until_jobs(1, "stopped")
    terminal.type("fg\n")
    terminal.expect("went on")
    terminal.expect("ready> ")
    place.expect_empty()


def test_in_the_background(place: Place) -> None:
    """Started with `&` it runs beside the prompt, and `wait` sees its code."""
    terminal = place.terminal()
    os.mkfifo(place.path("go"))
    terminal.type("omp-coord run q -- sh -c 'read x <go; exit 5' &\n")
    place.until_jobs(1, "running")
    terminal.expect("ready> ")
    terminal.type("echo >go; wait %1; echo co''de $?\n")
    terminal.expect("code 5")
    place.expect_empty()


@pytest.mark.parametrize("what", ["reads", "writes"])
def test_terminal_in_the_background(place: Place, what: str) -> None:
    """A background job that wants to read from the terminal (or, with `stty tostop`, to write) is stopped, as without the
    runner, and shown so; fg continues it."""
    terminal = place.terminal()
    if what == "writes":
        terminal.type("stty tostop\n")
        terminal.expect("ready> ")
    (first, then) = ("echo wri''tten; ", "written") if what == "writes" else ("", "read x")
    terminal.type(f"omp-coord run q -- sh -c '{first}read x; echo got $x' &\n")
    (job,) = place.until_jobs(1, "stopped")
    until(lambda: state(runner_of(job)) == "T", "the shell sees it stop, too")
    terminal.type("fg\n")
    terminal.expect(then)
    place.until_jobs(1, "running")
    terminal.type("this\n")
    terminal.expect("got this")
    terminal.expect("ready> ")
    place.expect_empty()


@pytest.mark.parametrize("waiting", [False, True])
def test_terminal_is_closed(place: Place, waiting: bool) -> None:
    """When the terminal is closed, a running command and a waiting runner end by HUP, and nothing is left."""
    if waiting:
        gate = place.held()
    terminal = place.terminal()
    terminal.type("omp-coord run q -- sleep 1000\n")
    (job,) = place.until_jobs(1, "waiting" if waiting else "running")
    terminal.hang_up()
    until(lambda: not psutil.pid_exists(runner_of(job)), "the runner has ended")
    if waiting:
        assert [now["id"] for now in place.jobs()] != [job["id"]]
        assert place.ended()[job["id"]]["how"] == "left"
        gate.open()
    else:
        assert place.ended()[job["id"]]["signal"] == signal.SIGHUP
    place.expect_empty()


def test_nohup(place: Place) -> None:
    """Under nohup neither the runner nor the command ends when the terminal is closed."""
    os.mkfifo(place.path("go"))
    terminal = place.terminal()
    terminal.type("nohup omp-coord run q -- sh -c 'read x <go; echo went on' >out 2>&1\n")
    (job,) = place.until_jobs(1, "running")
    terminal.hang_up()
    until(lambda: not psutil.pid_exists(terminal.pid) or state(terminal.pid) == "Z", "the shell is gone")
    place.until_jobs(1, "running")
    with open(place.path("go"), "w"):
        pass
    until(lambda: job["id"] in place.ended(), "it has ended")
    assert place.outcomes() == ["ok"]
    assert "went on" in place.read("out")
