"""At a terminal: interrupts, job control and pagers work as if the runner were not there."""

from __future__ import annotations

import os
import signal

from coord.run import processes
from tests.coord.run.stage import COUNTER, Stage, Terminal, line, state
from tests.waiting import until

INTR, SUSP, QUIT = "\x03", "\x1a", "\x1c"


def runner_of(stage: Stage) -> int:
    proc = processes.read(stage.child())
    assert proc is not None
    return proc.ppid


def counted(terminal: Terminal) -> str:
    terminal.type("how many\n")
    terminal.expect("counted ")
    return terminal.expect("\n").strip()


def both(stage: Stage, letter: str) -> bool:
    return state(stage.child())[:1] == letter and state(runner_of(stage)) == letter


def test_ctrl_c_reaches_the_command_once(stage: Stage, way: list[str]) -> None:
    """Ctrl-C interrupts the command exactly once; the runner waits for what the command makes of it."""
    terminal = stage.terminal()
    terminal.type(line(*way, *COUNTER) + "\n")
    terminal.expect("up\r\n")
    terminal.type(INTR)
    terminal.expect("got 2")
    stage.logged("event 2 terminal")
    terminal.type(QUIT)
    terminal.expect("got 3")
    stage.logged("event 3 terminal")
    assert counted(terminal) == "1=0 2=1 3=1 15=0 10=0"
    terminal.type("end\n")
    terminal.expect("ready> ")


def test_ctrl_c_ends_a_loop_of_the_shell(stage: Stage, way: list[str]) -> None:
    """A shell loop around the runner is broken by Ctrl-C: the shell sees that the runner died of INT."""
    terminal = stage.terminal()
    terminal.type(f"while :; do {line(*way, 'sh', '-c', 'echo turn; exec sleep 1000')}; done\n")
    terminal.expect("turn\r\n")
    until(lambda: len(stage.members("sleep")) == 1, "the command runs")
    terminal.type(INTR)
    terminal.expect("ready> ")
    terminal.type("echo st''atus $?\n")
    terminal.expect("status 130")
    assert len([entry for entry in stage.log() if entry.startswith("started")]) == 1


def test_kill_from_elsewhere_reaches_the_command(stage: Stage) -> None:
    """INT sent to the runner by `kill`, though it runs at a terminal, is passed on."""
    terminal = stage.terminal()
    terminal.type(line(*COUNTER) + "\n")
    terminal.expect("up\r\n")
    os.kill(runner_of(stage), signal.SIGINT)
    terminal.expect("got 2")
    assert counted(terminal) == "1=0 2=1 3=0 15=0 10=0"


def test_ctrl_z_and_fg(stage: Stage, way: list[str]) -> None:
    """Ctrl-Z stops command and runner and gives the prompt back; fg goes on where it was; twice."""
    terminal = stage.terminal()
    terminal.type(line(*way, *COUNTER) + "\n")
    terminal.expect("up\r\n")
    for _ in range(2):
        terminal.type(SUSP)
        terminal.expect("Stopped")
        terminal.expect("ready> ")
        until(lambda: both(stage, "T"), "both are stopped")
        terminal.type("fg\n")
        until(lambda: both(stage, "S"), "both go on")
        assert counted(terminal) == "1=0 2=0 3=0 15=0 10=0"
    terminal.type("end\n")
    terminal.expect("ready> ")
    terminal.type("echo st''atus $?\n")
    terminal.expect("status 0")


def test_ctrl_z_and_bg(stage: Stage, way: list[str]) -> None:
    """A stopped job goes on in the background after bg."""
    terminal = stage.terminal()
    terminal.type(line(*way, "sleep", "1000") + "\n")
    stage.child()
    until(lambda: len(stage.members("sleep")) == 1, "the command runs")
    terminal.type(SUSP)
    terminal.expect("Stopped")
    until(lambda: both(stage, "T"), "both are stopped")
    terminal.type("bg\n")
    until(lambda: both(stage, "S"), "both go on")
    terminal.type("kill %1; wait %1; echo st''atus $?\n")
    terminal.expect("status 143")


def test_command_that_stops_itself(stage: Stage, way: list[str]) -> None:
    """A command that stops only itself (an editor's suspend) gives the prompt back, and fg continues it."""
    terminal = stage.terminal()
    terminal.type(line(*way, "sh", "-c", "kill -STOP $$; echo we''nt on") + "\n")
    terminal.expect("Stopped")
    terminal.expect("ready> ")
    terminal.type("fg\n")
    terminal.expect("went on")
    terminal.expect("ready> ")


def test_tstp_and_cont_by_kill(stage: Stage, way: list[str]) -> None:
    """TSTP sent to a background runner stops the command too, CONT sent to the runner continues both."""
    terminal = stage.terminal()
    terminal.type(line(*way, "sleep", "1000") + " &\n")
    runner = runner_of(stage)
    until(lambda: len(stage.members("sleep")) == 1, "the command runs")
    os.kill(runner, signal.SIGTSTP)
    until(lambda: both(stage, "T"), "both are stopped")
    os.kill(runner, signal.SIGCONT)
    until(lambda: both(stage, "S"), "both go on")


def test_background_job_is_not_stopped(stage: Stage, way: list[str]) -> None:
    """A job started with & runs, writes to the terminal and is not stopped."""
    terminal = stage.terminal()
    terminal.type(line(*way, "sh", "-c", "echo fro''m behind; exec sleep 1000") + " &\n")
    terminal.expect("from behind")
    until(lambda: len(stage.members("sleep")) == 1, "the command runs on")
    until(lambda: both(stage, "S"), "neither is stopped")
    terminal.type("kill %1; wait %1; echo st''atus $?\n")
    terminal.expect("status 143")


def test_interactive_input(stage: Stage, way: list[str]) -> None:
    """A command reads the terminal without being stopped: it stays in the foreground group."""
    terminal = stage.terminal()
    terminal.type(line(*way, "sh", "-c", "echo na''me; read name; echo he''llo $name") + "\n")
    terminal.expect("name\r\n")
    terminal.type("world\n")
    terminal.expect("hello world")
    terminal.expect("ready> ")


def test_pager(stage: Stage, way: list[str]) -> None:
    """A pager behind the runner takes keys; quitting it ends the command by SIGPIPE, as without us."""
    stage.env["TERM"] = "xterm"
    terminal = stage.terminal()
    terminal.type(line(*way, "seq", "1", "1000000") + " | less; echo co''des ${PIPESTATUS[*]}\n")
    terminal.expect("1\r\n2")
    terminal.expect(":")
    terminal.type(" ")
    terminal.expect("\r\n30")
    terminal.type("q")
    terminal.expect("codes 141 0")


def test_pager_stopped_and_continued(stage: Stage) -> None:
    """Ctrl-Z in a pager behind the runner stops the whole pipeline; after fg the pager takes keys again."""
    stage.env["TERM"] = "xterm"
    terminal = stage.terminal()
    terminal.type(line("seq", "1", "1000000") + " | less; echo co''des ${PIPESTATUS[*]}\n")
    terminal.expect("1\r\n2")
    terminal.expect(":")
    # less itself misses a Ctrl-Z that comes just before it reads the terminal.
    until(lambda: terminal.press(SUSP, "Stopped"), "the pipeline is stopped")
    terminal.expect("ready> ")
    until(lambda: both(stage, "T"), "runner and command are stopped")
    terminal.type("fg\n")
    terminal.expect("1\r\n2")
    until(lambda: both(stage, "S"), "runner and command go on")
    terminal.type("q")
    terminal.expect("ready> ")
    until(lambda: not stage.members("seq"), "the pipeline has ended")


def test_head(stage: Stage, way: list[str]) -> None:
    """`| head -1` ends an endless command by SIGPIPE."""
    proc = stage.start(["bash", "-c", line(*way, "yes") + ' | head -1; echo "${PIPESTATUS[@]}"'])
    assert proc.communicate(timeout=60)[0] == "y\n141 0\n"


def test_closed_terminal(stage: Stage, way: list[str]) -> None:
    """When the terminal is closed command and runner end, without ending each other twice."""
    terminal = stage.terminal()
    terminal.type(line(*way, "sleep", "1000") + "\n")
    runner = runner_of(stage)
    child = stage.child()
    until(lambda: len(stage.members("sleep")) == 1, "the command runs")
    stage.terminals.remove(terminal)
    terminal.hang_up()
    os.waitpid(terminal.pid, 0)
    until(lambda: state(child) in ("", "Z") and state(runner) in ("", "Z"), "both have ended")


def test_shell_as_a_command(stage: Stage, way: list[str]) -> None:
    """An interactive shell under the runner has its own job control and gives the terminal back at last."""
    terminal = stage.terminal()
    terminal.type("PS1='inner> ' " + line(*way, "bash", "--norc", "--noprofile", "-i") + "\n")
    terminal.expect("\ninner> ")
    terminal.type("sleep 1000\n")
    until(lambda: len(stage.members("sleep")) == 1, "its command runs")
    terminal.type(SUSP)
    terminal.expect("Stopped")
    terminal.expect("inner> ")
    terminal.type("fg\n")
    until(lambda: [state(proc.pid) for proc in stage.members("sleep")] == ["S"], "its command goes on")
    terminal.type(INTR)
    terminal.expect("inner> ")
    terminal.type("exit 9\n")
    terminal.expect("ready> ")
    terminal.type("echo st''atus $?\n")
    terminal.expect("status 9")
