"""`omp-coord run` at a terminal: interrupts, job control, pagers and input work as if it were not there."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal

import psutil
import pytest

from tests.cli.place import Place, finished
from tests.coord.run.stage import COUNTER, Terminal, state
from tests.waiting import until

INTR, SUSP, QUIT = "\x03", "\x1a", "\x1c"
PAGER = shutil.which("less") or shutil.which("more")


def runner_of(job: dict[str, object]) -> int:
    process = job["process"]
    assert isinstance(process, dict)
    return int(process["pid"])


def status(terminal: Terminal) -> int:
    """$? of the command before."""
    terminal.type("echo st''atus $? end''ed\n")
    terminal.expect("status ")
    return int(terminal.expect(" ended"))


def test_ctrl_c_while_waiting(place: Place) -> None:
    """The waiting line says the place and who holds the slot; Ctrl-C gives the place up and is 130 to the shell."""
    place.held("--label", "the holder")
    terminal = place.terminal()
    terminal.type("omp-coord run q -- echo ra''n\n")
    terminal.expect("waiting for q, place 1 · waited 0s · the holder since ")
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
    terminal.expect("waited 1s")
    first.send_signal(signal.SIGINT)
    seen = terminal.expect("place 1")
    assert "\n" not in seen
    assert "\r\x1b[K" in seen


def test_quiet_says_nothing_while_waiting(place: Place) -> None:
    """`--quiet`: not a byte while it waits, on a terminal too."""
    gate = place.held()
    terminal = place.terminal()
    terminal.type("omp-coord run --quiet q -- true; echo do''ne\n")
    terminal.expect("\n")
    place.until_jobs(1, "waiting")
    gate.open()
    assert terminal.expect("done").strip("\r\n\x1b[?2004l") == ""


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
    os.kill(server, signal.SIGCONT)
    until(lambda: "ran" in terminal.read() or state(terminal.pid) == "Z", "it has ended")
    assert os.waitstatus_to_exitcode(os.waitpid(terminal.pid, 0)[1]) == -signal.SIGINT
    assert "ran" not in terminal.read()
    place.expect_empty()


def _blocks_int(pid: int) -> bool:
    with contextlib.suppress(OSError), open(f"/proc/{pid}/status") as file:
        fields = dict(line.split(":\t", 1) for line in file if ":\t" in line)
        return bool(int(fields["SigBlk"], 16) & 1 << (signal.SIGINT - 1))
    return False


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
    terminal.type("omp-coord run --time-limit 1s q -- bash -c 'read -p \"na''me? \" x; echo hello $x; read x'\n")
    terminal.expect("name? ")
    terminal.type("anna\n")
    terminal.expect("hello anna")
    terminal.expect("time limit of 1 s reached")
    terminal.expect("ready> ")
    assert status(terminal) == 124


def test_in_the_background(place: Place) -> None:
    """Started with `&` it runs beside the prompt, and `wait` sees its code."""
    terminal = place.terminal()
    terminal.type("omp-coord run q -- sh -c 'read x <go; exit 5' &\n")
    os.mkfifo(place.path("go"))
    place.until_jobs(1, "running")
    terminal.expect("ready> ")
    terminal.type("echo >go; wait %1; echo co''de $?\n")
    terminal.expect("code 5")
    place.expect_empty()


def test_reads_from_the_terminal_in_the_background(place: Place) -> None:
    """A background job that wants to read from the terminal is stopped, as without the runner, and fg continues it."""
    terminal = place.terminal()
    terminal.type("omp-coord run q -- sh -c 'read x; echo got $x' &\n")
    place.until_jobs(1, "running")
    until(lambda: any(proc.status() == psutil.STATUS_STOPPED for proc in place.members()), "it is stopped")
    terminal.type("fg\n")
    terminal.expect("read x")
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
    os.close(terminal.fd)
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
    os.close(terminal.fd)
    until(lambda: not psutil.pid_exists(terminal.pid) or state(terminal.pid) == "Z", "the shell is gone")
    place.until_jobs(1, "running")
    with open(place.path("go"), "w"):
        pass
    until(lambda: job["id"] in place.ended(), "it has ended")
    assert place.outcomes() == ["ok"]
    assert "went on" in place.read("out")


def test_ctrl_backslash(place: Place) -> None:
    """Ctrl-\\ ends the command and the runner by QUIT, without core files."""
    terminal = place.terminal()
    terminal.type("ulimit -c 0; omp-coord run q -- sh -c 'echo u''p; exec sleep 1000'\n")
    terminal.expect("up\r\n")
    terminal.type(QUIT)
    terminal.expect("ready> ")
    assert status(terminal) == 131
    place.expect_empty()
