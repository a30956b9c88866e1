"""`omp-coord run` at a terminal: interrupts, job control, pagers and input work as if it were not there."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal

import pytest

from coord.keys import Keys
from coord.view.table import cells_of
from tests.cli.place import Place, finished
from tests.cli.terminal import INTR, QUIT, status
from tests.coord.run.stage import COUNTER, Terminal, state
from tests.waiting import until

PAGER = shutil.which("less") or shutil.which("more")


def test_ctrl_c_while_waiting(place: Place) -> None:
    """The waiting line says the place and who holds the slot; Ctrl-C gives the place up and is 130 to the shell."""
    place.held("--label", "the holder")
    terminal = place.terminal()
    terminal.type("omp-coord run q -- echo ra''n\n")
    terminal.expect(re.compile(r"waiting for q, place 1 · waited \d+s · the holder since "))
    place.until_jobs(1, "waiting")
    terminal.type(INTR)
    terminal.expect("\x1b[K")  # the line is taken away
    assert "ran" not in terminal.expect("ready> ")
    assert status(terminal) == 130
    assert len(place.jobs()) == 1


def test_waiting_line_is_kept_up_to_date(place: Place) -> None:
    """On a terminal it is one line, drawn over: the place when it changes, and how long the wait takes."""
    place.held()
    first = place.run("--quiet", "q", "--", "true")
    place.until_jobs(1, "waiting")
    terminal = place.terminal()
    terminal.type("omp-coord run q -- true\n")
    terminal.expect("place 2")
    terminal.expect(re.compile(r"waited [1-9]\d*s"))
    first.send_signal(signal.SIGINT)
    seen = terminal.expect("place 1")
    assert "\n" not in seen
    assert "\r\x1b[K" in seen


def test_a_wide_waiting_line_stays_one_line(place: Place) -> None:
    """Characters that take two columns are counted so: a line that wrapped could not be drawn over."""
    place.held("--label", "漢字" * 40)
    terminal = place.terminal()
    terminal.type("omp-coord run q -- true\n")
    terminal.expect("\r\x1b[K")
    line = terminal.expect("\r\x1b[K")
    assert line.startswith("omp-coord: waiting for q, place 1")
    assert cells_of(line) < 80
    terminal.type(INTR)


def test_in_the_background_it_leaves_the_prompt_alone(place: Place) -> None:
    """A job that waits with `&` says so once, and draws over nothing: there stands what the user types. In the foreground
    it is drawn over again."""
    gate = place.held()
    terminal = place.terminal()
    terminal.type("omp-coord run q -- echo ra''n &\n")
    terminal.expect("waiting for q, place 1")
    terminal.expect("\n")
    (job,) = place.until_jobs(1, "waiting")
    beats = Keys(place.scope)["LEASES"]
    first = place.redis("ZSCORE", beats, f"j|{job['id']}")
    until(lambda: place.redis("ZSCORE", beats, f"j|{job['id']}") > first, "it has beaten again")
    assert "\x1b[K" not in terminal.read()
    terminal.type("fg\n")
    terminal.expect("\r\x1b[K")
    gate.open()
    terminal.expect("ran")


def test_quiet_says_nothing_while_waiting(place: Place) -> None:
    """`--quiet`: not a byte while it waits, on a terminal too."""
    gate = place.held()
    terminal = place.terminal()
    terminal.type("omp-coord run --quiet q -- true; echo do''ne\n")
    terminal.expect("\n")
    place.until_jobs(1, "waiting")
    gate.open()
    assert "omp-coord" not in terminal.expect("done")


def test_ctrl_c_while_running(place: Place) -> None:
    """The command gets exactly one INT, and the runner waits for what it makes of it."""
    terminal = place.terminal()
    terminal.type("omp-coord run q -- " + " ".join(COUNTER) + "\n")
    terminal.expect("up\r\n")
    terminal.type(INTR)
    terminal.expect("got 2")
    terminal.type("how many\n")
    terminal.expect("counted 1=0 2=1 3=0 15=0")
    terminal.type("end\n")
    terminal.expect("ready> ")
    assert status(terminal) == 0


def test_ctrl_c_ends_a_loop_of_the_shell(place: Place) -> None:
    """The runner dies of the INT that ended its command, so a loop around it is over."""
    terminal = place.terminal()
    terminal.type("for i in 1 2 3; do omp-coord run q -- sh -c 'echo tu''rn; exec sleep 1000'; done\n")
    terminal.expect("turn\r\n")
    terminal.type(INTR)
    assert "turn" not in terminal.expect("ready> ")
    assert status(terminal) == 130
    place.expect_empty()
    assert [how["signal"] for how in place.ended().values()] == [signal.SIGINT]


@pytest.mark.parametrize("moment", ["job_enqueue", "job_start"])
def test_ctrl_c_while_the_server_thinks(own_place: Place, moment: str) -> None:
    """Ctrl-C that comes while the board decides on the slot ends the runner: the command is not run without it."""
    place = own_place
    place.den.start()
    gate = place.held()
    server = place.den.server_pid()
    if moment == "job_enqueue":
        gate.open()
        place.expect_empty()
        os.kill(server, signal.SIGSTOP)
    terminal = Terminal([place.den.command, "run", "q", "--", "echo", "ran"], place.env, place.folder)
    if moment == "job_enqueue":
        until(lambda: _blocks_int(terminal.pid) and state(terminal.pid) == "S", "it asks the server")
    else:
        place.until_jobs(1, "waiting")
        os.kill(terminal.pid, signal.SIGSTOP)  # so that it finds the grant and the halted server together
        gate.open()
        place.until_jobs(1, "granted")
        os.kill(server, signal.SIGSTOP)
        os.kill(terminal.pid, signal.SIGCONT)
        until(lambda: state(terminal.pid) == "S", "it asks the server")
    terminal.type(INTR)
    # The terminal passes it on when the kernel comes to it: the server must not answer before that.
    until(lambda: _has_int(terminal.pid) or state(terminal.pid) == "Z", "the interrupt is there")
    os.kill(server, signal.SIGCONT)
    until(lambda: "ran" in terminal.read() or state(terminal.pid) == "Z", "it has ended")
    assert os.waitstatus_to_exitcode(os.waitpid(terminal.pid, 0)[1]) == -signal.SIGINT
    assert "ran" not in terminal.read()
    place.expect_empty()


def _blocks_int(pid: int) -> bool:
    return _int_in(pid, "SigBlk")


def _has_int(pid: int) -> bool:
    """Whether it waits to be taken."""
    return _int_in(pid, "ShdPnd")


def _int_in(pid: int, field: str) -> bool:
    with contextlib.suppress(OSError), open(f"/proc/{pid}/status") as file:
        fields = dict(line.split(":\t", 1) for line in file if ":\t" in line)
        return bool(int(fields[field], 16) & 1 << (signal.SIGINT - 1))
    return False


@pytest.mark.skipif(PAGER is None, reason="no pager (less, more) on this machine")
def test_pager(place: Place) -> None:
    """A pager reads from it; when the user leaves it early, both ends are over and the slot is free."""
    terminal = place.terminal()
    terminal.type(f"omp-coord run q -- seq 1 100000 | {PAGER}\n")
    terminal.expect("\n5")
    until(lambda: terminal.press("q", "ready> "), "the pager is left")
    place.expect_empty()
    assert [how["signal"] for how in place.ended().values()] == [signal.SIGPIPE]


def test_head(place: Place) -> None:
    """`| head -1`: the command dies of the closed pipe and so does the runner, as without it."""
    out, err = finished(place.sh("omp-coord run q -- yes | head -1; echo ${PIPESTATUS[@]}"), 0)
    assert (out, err) == ("y\n141 0\n", "")
    place.expect_empty()


def test_stdin(place: Place) -> None:
    """Standard input is the command's, all of it and no more: what it does not read is left for the next."""
    script = "printf 'one\\ntwo\\nthree\\n' | { omp-coord run q -- sh -c 'read x; echo $x'; omp-coord run q -- cat; }"
    assert finished(place.sh(script), 0) == ("one\ntwo\nthree\n", "")


def test_reads_from_the_terminal(place: Place) -> None:
    """An interactive command reads from the terminal and is never stopped for it, also after a wait."""
    gate = place.held()
    terminal = place.terminal()
    terminal.type("omp-coord run q -- bash -c 'read -p \"na''me? \" x; echo hello $x'\n")
    terminal.expect("waiting for q")
    gate.open()
    terminal.expect("name? ")
    terminal.type("anna\n")
    terminal.expect("hello anna")
    terminal.expect("ready> ")
    assert status(terminal) == 0


def test_time_limit_while_reading_from_the_terminal(place: Place) -> None:
    """With a time limit, too, reading from the terminal does not stop the command; the limit ends it."""
    terminal = place.terminal()
    terminal.type("omp-coord run --time-limit 4s q -- bash -c 'read -p \"na''me? \" x; echo hello $x; read x'\n")
    terminal.expect("name? ")
    terminal.type("anna\n")
    terminal.expect("hello anna")
    terminal.expect("time limit of 4 s reached")
    terminal.expect("ready> ")
    assert status(terminal) == 124


def test_ctrl_backslash(place: Place) -> None:
    """Ctrl-\\ ends the command and the runner by QUIT, without core files."""
    terminal = place.terminal()
    terminal.type("ulimit -c 0; omp-coord run q -- sh -c 'echo u''p; exec sleep 1000'\n")
    terminal.expect("up\r\n")
    terminal.type(QUIT)
    terminal.expect("ready> ")
    assert status(terminal) == 131
    place.expect_empty()
