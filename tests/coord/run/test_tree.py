"""The process tree: a time limit ends all of it, left-overs are named and treated as the queue wants."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import Any

import pytest

from coord.run import processes, tree
from coord.run.processes import Proc
from coord.run.tree import Ending, Lasting, Tree
from tests.coord.run.stage import COUNTER, Stage, first_line, gone, state
from tests.waiting import until

FAMILY = "setsid sleep 301 & (sleep 302 &) ; (setsid sh -c 'sleep 303 & :') ; sleep 304"
STUBBORN = 'trap "" TERM; echo up; while :; do sleep 1000; done'


def strike(proc: subprocess.Popen[str]) -> None:
    """The driver's time limit, now."""
    os.kill(proc.pid, signal.SIGUSR2)


def test_time_limit_ends_the_whole_tree(stage: Stage, way: list[str]) -> None:
    """Children in sessions of their own and double-forked ones end with the command, all within the grace."""
    proc = stage.drive(*way, "--grace", "60", "sh", "-c", FAMILY)
    until(lambda: len(stage.members("sleep")) == 4, "the family is complete")
    family = stage.members("sleep")
    strike(proc)
    assert proc.wait(30) == 124
    assert [proc for proc in family if not gone(proc.pid)] == []


def test_time_limit_by_the_clock(stage: Stage, way: list[str]) -> None:
    """The limit counts from the start of the command and strikes by itself."""
    begin = time.monotonic()
    proc = stage.drive(*way, "--limit", "0.3", "sleep", "1000")
    assert proc.wait(30) == 124
    assert time.monotonic() - begin >= 0.3


def test_a_command_within_its_limit(stage: Stage, way: list[str]) -> None:
    """A command that ends in time is not touched by its limit."""
    proc = stage.drive(*way, "--limit", "60", "sh", "-c", "exit 3")
    assert proc.wait(30) == 3
    assert "limit" not in stage.log()


def test_trapping_term_ends_by_kill(stage: Stage, way: list[str]) -> None:
    """A command that traps TERM is killed after the grace, its children too."""
    proc = stage.drive(*way, "--grace", "0.3", "sh", "-c", f"setsid sh -c '{STUBBORN}' & {STUBBORN}")
    assert (first_line(proc), first_line(proc)) == ("up", "up")
    members = [member for member in stage.members() if member.pid != proc.pid]
    strike(proc)
    assert proc.wait(30) == 124
    assert [member for member in members if not gone(member.pid)] == []


def test_exit_0_in_the_trap_is_still_a_time_out(stage: Stage) -> None:
    """A command that traps TERM and exits 0 has been ended by the limit all the same."""
    proc = stage.drive("--grace", "60", "sh", "-c", "trap 'exit 0' TERM; sleep 1000 & wait")
    until(lambda: len(stage.members("sleep")) == 1, "the trap is set and all run")
    strike(proc)
    assert proc.wait(30) == 124


def test_stopping_during_the_grace(stage: Stage) -> None:
    """A command that stops itself while it tidies up is continued, so that it comes to an end before the KILL."""
    trap = "trap 'kill -STOP $$; echo tidied; exit' TERM"
    proc = stage.drive("--grace", "60", "sh", "-c", f"{trap}; sleep 1000 & wait")
    until(lambda: len(stage.members("sleep")) == 1, "the trap is set and all run")
    strike(proc)
    assert proc.wait(30) == 124
    assert first_line(proc) == "tidied"


def test_stopped_commands_end_without_kill(stage: Stage) -> None:
    """A stopped process is continued so that it can act on the TERM, long before the grace is over."""
    code = (
        "import signal\n"
        "signal.pthread_sigmask(signal.SIG_BLOCK, {15})\n"
        "print('up', flush=True)\n"
        "signal.sigwait({15})\n"  # not by a handler: one that is due just before a `pause` waits with it
        "print('tidied')\n"
    )
    proc = stage.drive("--grace", "60", sys.executable, "-c", code)
    assert first_line(proc) == "up"
    os.kill(stage.child(), signal.SIGSTOP)
    until(lambda: state(stage.child()) == "T", "the command is stopped")
    strike(proc)
    assert proc.wait(30) == 124
    assert first_line(proc) == "tidied"


def test_tidying_up_is_left_in_peace(stage: Stage) -> None:
    """What a command starts to tidy up when it gets TERM gets none itself: it has until the KILL."""
    with open(os.path.join(stage.folder, "tidy"), "w", encoding="utf-8") as file:
        file.write("trap 'echo broken' TERM\nfor i in 1 2 3 4 5 6 7 8 9; do sleep 0.05; done\necho tidied\n")
    proc = stage.drive("--grace", "60", "sh", "-c", "trap 'sh tidy; exit' TERM; sleep 1000 & wait")
    until(lambda: len(stage.members("sleep")) == 1, "the trap is set and all run")
    strike(proc)
    assert proc.wait(30) == 124
    assert first_line(proc) == "tidied"


def test_kill_is_repeated_until_nothing_forks(stage: Stage) -> None:
    """A process that keeps forking itself and ignores TERM does not outrun the KILL."""
    code = (
        "import os, signal, time\n"
        "signal.signal(15, signal.SIG_IGN)\n"
        "os.setsid() if os.fork() == 0 else os._exit(0)\n"
        "end = time.monotonic() + 60\n"  # nothing else would ever stop it if this test were killed
        "print('up', flush=True)\n"
        "while time.monotonic() < end:\n"
        "  time.sleep(0.02)\n"
        "  if os.fork(): os._exit(0)\n"
    )
    proc = stage.drive(
        "--grace",
        "0.2",
        sys.executable,
        "-c",
        f"import os\nif os.fork():\n  os.wait(); os.read(0, 1)\n{code}",
    )
    assert first_line(proc) == "up"
    strike(proc)
    assert proc.wait(30) == 124
    assert stage.members() == []


def test_nobody_is_left(stage: Stage, way: list[str]) -> None:
    """A command without left-overs: none named."""
    assert stage.drive(*way, "true").wait(30) == 0
    assert stage.logged("leftovers") == "leftovers"


DAEMON = "setsid sleep 1000 >/dev/null 2>&1 </dev/null & exit 3"


def test_leftovers_kept(stage: Stage, way: list[str]) -> None:
    """`keep`: the runner ends at once with the command's code; the daemon is named and lives on."""
    proc = stage.drive(*way, "sh", "-c", DAEMON)
    assert proc.wait(30) == 3
    assert stage.logged("leftovers") == "leftovers sleep"
    assert len(stage.members("sleep")) == 1


def test_leftovers_killed(stage: Stage, way: list[str]) -> None:
    """`kill`: the daemon has ended before the runner does; the code is the command's."""
    proc = stage.drive(*way, "--leftovers", "kill", "sh", "-c", DAEMON)
    assert proc.wait(30) == 3
    assert stage.members("sleep") == []


def test_leftovers_waited_for(stage: Stage, way: list[str]) -> None:
    """`wait`: the runner stays until the daemon has ended, and a signal ends the waiting."""
    for ends_runner in (False, True):
        proc = stage.drive(*way, "--leftovers", "wait", "sh", "-c", DAEMON)
        until(lambda: stage.log()[-1:] == ["leftovers sleep"], "it is waited for")
        assert proc.poll() is None
        if ends_runner:
            proc.terminate()
            assert proc.wait(30) == -signal.SIGTERM
        else:
            os.kill(stage.members("sleep")[0].pid, signal.SIGKILL)
            assert proc.wait(30) == 3
        os.truncate(stage.log_path, 0)


def test_leftover_that_holds_the_pipe_does_not_hang_the_runner(stage: Stage) -> None:
    """A background process that keeps our caller's pipe open holds up the reader, never the runner."""
    proc = stage.drive("sh", "-c", "sleep 1000 & exit 0")
    assert proc.wait(30) == 0
    assert len(stage.members("sleep")) == 1


class Going:
    """A tree with one process that is there for so many looks."""

    def __init__(self, looks: int) -> None:
        self.looks = looks

    def alive(self) -> list[Proc]:
        self.looks -= 1
        return [Proc(2, 1, "1", "cat", "S")] if self.looks >= 0 else []


def test_processes_that_are_just_ending_are_no_leftovers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other half of a pipe, gone a moment after the command, is not reported; what is still there then, is."""
    monkeypatch.setattr(tree, "_reap", lambda: None)  # the children of this process are other tests'
    going: Any = Going(3)
    staying: Any = Going(1000)
    begin = time.monotonic()
    assert tree.leftovers(going) == []
    assert time.monotonic() - begin >= 0.03
    assert [proc.name for proc in tree.leftovers(staying)] == ["cat"]


def test_no_child_no_look(stage: Stage) -> None:
    """Without any child the process table is not even read: that is the normal end of a job."""
    code = (
        "from coord.run import processes, tree\n"
        "processes.table = None\n"
        "assert tree.leftovers(tree.Tree()) == []\n"
        "assert tree.Ending(tree.Tree().alive).tick(0.0) is None\n"
    )
    proc = stage.start([sys.executable, "-c", code])
    assert (proc.communicate(timeout=60), proc.returncode) == (("", ""), 0)


def test_excluded_processes_and_their_children(stage: Stage) -> None:
    """The embedded server, its guard and what they forked are never part of the tree."""
    server = stage.start(["sh", "-c", "sleep 1000 & echo up; wait"])
    other = stage.start(["sh", "-c", "sleep 1000 & echo up; wait"])
    assert (first_line(server), first_line(other)) == ("up", "up")
    until(lambda: len(stage.members("sleep")) == 2, "all run")
    mine = {member.pid for member in Tree(os.getpid(), lambda: {server.pid}).alive()}
    assert other.pid in mine and server.pid not in mine
    sleeps = {member.ppid: member.pid for member in stage.members("sleep")}
    assert sleeps[other.pid] in mine and sleeps[server.pid] not in mine
    assert os.getpid() not in mine


def test_parents_come_first(stage: Stage) -> None:
    """The tree lists a shell before its command, so that it is ended before it can start the next one."""
    proc = stage.start(["sh", "-c", "sh -c 'sleep 1000 & wait' & wait"])
    until(lambda: len(stage.members("sleep")) == 1, "all three run")
    found = tree.descendants(proc.pid)
    assert [member.name for member in found] == ["sh", "sleep"]
    assert [member.ppid for member in found] == [proc.pid, found[0].pid]


def test_orphans_once_seen_stay_known(stage: Stage) -> None:
    """Where the system has no subreaper, an orphan that was seen before it became one is still ended."""
    proc = stage.start(["sh", "-c", "setsid sleep 1000 & echo up; read line"])
    assert first_line(proc) == "up"
    family = Tree(proc.pid)
    until(lambda: [member.name for member in family.alive()] == ["sleep"], "the child is seen")
    proc.kill()
    proc.wait(30)
    assert [member.name for member in family.alive()] == ["sleep"]
    assert tree.descendants(proc.pid) == []


def test_unkillable_ones_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another user's process cannot be ended: it is reported in `left`, and nobody waits for it."""
    stranger = Proc(1, 0, "1", "init", "S")
    monkeypatch.setattr(processes, "send", lambda proc, signo: processes.REFUSED)
    ending = Ending(lambda: [stranger], grace=5)
    assert ending.tick(100.0) is not None
    assert not ending.done
    assert ending.tick(105.0) is None
    assert ending.done and ending.left == [stranger]


def test_stuck_ones_are_given_up_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that the kernel does not let die is given up some seconds after the KILL."""
    stuck = Proc(2, 1, "1", "nfs", "D")
    sent: list[tuple[float, int]] = []
    clock = 100.0

    def send(proc: Proc, signo: int) -> str:
        sent.append((clock, signo))
        return processes.SENT

    monkeypatch.setattr(processes, "send", send)
    ending = Ending(lambda: [stuck], grace=10)
    while (pause := ending.tick(clock)) is not None:
        clock += pause
    assert sent == [(100.0, signal.SIGTERM), (110.0, signal.SIGKILL)]
    assert 114.9 < clock < 115.2 and ending.left == [stuck]


def test_policies() -> None:
    """`keep` asks for nothing, `kill` for an ending, `wait` for waiting."""
    family = Tree(os.getpid())
    assert tree.after("keep", family) is None
    assert isinstance(tree.after("kill", family), Ending)
    assert isinstance(tree.after("wait", family), Lasting)


def test_interrupting_the_runner_during_the_grace(stage: Stage) -> None:
    """A second signal during the grace changes nothing: the limit still ends with KILL and 124."""
    proc = stage.drive("--grace", "0.5", *COUNTER)
    assert first_line(proc) == "up"
    strike(proc)
    assert first_line(proc) == "got 15"
    proc.send_signal(signal.SIGINT)
    assert first_line(proc) == "got 2"
    assert proc.wait(30) == 124
