"""Starting a command: what it gets from the runner's caller, what an error looks like, how it ends."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys

import pytest

from tests.coord.run.stage import COUNTER, DRIVER, ROOT, Stage, fresh_signals, gone, state
from tests.waiting import until

STATUS = ["grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"]


def finish(proc: subprocess.Popen[str], text: str | None = None) -> tuple[int, str, str]:
    out, err = proc.communicate(text, timeout=60)
    return proc.returncode, out, err


@pytest.mark.parametrize("code", [0, 1, 7, 255])
def test_exit_code(stage: Stage, way: list[str], code: int) -> None:
    """The runner ends with the command's own exit code."""
    assert finish(stage.drive(*way, "sh", "-c", f"exit {code}"))[0] == code


@pytest.mark.parametrize("signo", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL, signal.SIGSEGV, signal.SIGPIPE])
def test_dies_by_the_same_signal(stage: Stage, way: list[str], signo: int) -> None:
    """A command that a signal ended takes the runner along by the same signal, so loops of a shell break."""
    assert finish(stage.drive(*way, "sh", "-c", f"kill -{int(signo)} $$"))[0] == -signo


def test_no_core_of_the_runner(stage: Stage) -> None:
    """Dying like the command leaves no core file of the runner, where cores are wanted."""

    def cores_wanted() -> None:
        fresh_signals()
        hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
        resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))

    proc = stage.drive("sh", "-c", "kill -QUIT $$", preexec_fn=cores_wanted)
    _, status = os.waitpid(proc.pid, 0)
    proc.returncode = -os.WTERMSIG(status)
    assert os.WTERMSIG(status) == signal.SIGQUIT
    assert not os.WCOREDUMP(status)


def test_stdin_passes_through(stage: Stage, way: list[str]) -> None:
    """The command reads the caller's stdin, byte for byte, to its end."""
    text = "".join(f"{n}\n" for n in range(20_000))
    assert finish(stage.drive(*way, "cat"), text) == (0, text, "")


def test_nothing_on_the_streams(stage: Stage, way: list[str]) -> None:
    """Out and err carry the command's bytes and not one of ours."""
    assert finish(stage.drive(*way, "sh", "-c", "echo out; echo err >&2")) == (0, "out\n", "err\n")


def descriptors(stage: Stage, prefix: list[str], **options: object) -> list[tuple[int, str]]:
    """What a command finds open, with the kind of file."""
    code = (
        "import os\n"
        "for fd in sorted(map(int, os.listdir('/proc/self/fd'))):\n"
        "  if fd == out.fileno(): continue\n"
        "  try: kind = os.readlink(f'/proc/self/fd/{fd}').split(':')[0]\n"
        "  except OSError: continue\n"
        "  print(fd, kind, file=out)\n"
    )
    path = os.path.join(stage.folder, "fds")
    script = f"out = open({path!r}, 'w')\n{code}"
    proc = stage.start([*prefix, sys.executable, "-I", "-S", "-c", script], **options)
    assert proc.wait(30) == 0
    with open(path, encoding="utf-8") as file:
        return [(int(row.split()[0]), row.split()[1]) for row in file]


def test_no_descriptor_of_ours(stage: Stage, way: list[str]) -> None:
    """The command finds exactly the descriptors it would find without the runner: those of the caller too
    (make's job server, process substitution), none of ours."""
    read, write = os.pipe()
    high = os.dup2(read, 63)
    try:
        options = {"pass_fds": (read, write, high)}
        direct = descriptors(stage, [], **options)
        assert descriptors(stage, [*DRIVER, *way], **options) == direct
        assert {(0, "pipe"), (1, "pipe"), (2, "pipe"), (read, "pipe"), (63, "pipe")} <= set(direct)
    finally:
        for fd in (read, write, high):
            os.close(fd)


@pytest.mark.parametrize("closed", [0, 1, 2])
def test_closed_standard_stream_stays_closed(stage: Stage, way: list[str], closed: int) -> None:
    """A standard stream that the caller closed is closed for the command too, never one of our files."""
    code = f"import os\ntry: os.fstat({closed})\nexcept OSError: os._exit(9)\nos._exit(1)"

    def close_it() -> None:
        fresh_signals()
        os.close(closed)

    # The pipe's copy in the child is closed before exec, as `<&-` does.
    script = [sys.executable, "-I", "-S", "-c", code]
    assert stage.drive(*way, *script, preexec_fn=close_it).wait(30) == 9


def test_places_of_closed_streams_are_kept(stage: Stage) -> None:
    """With a closed standard stream, what the runner opens later does not take its number."""
    code = (
        "import os\n"
        "from coord.run.child import keep_std_places\n"
        "os.close(0); os.close(2)\n"
        "keep_std_places()\n"
        "assert min(os.pipe()) > 2 and not os.get_inheritable(0) and not os.get_inheritable(2)\n"
    )
    assert finish(stage.start([sys.executable, "-c", code]))[::2] == (0, "")


def ignore_hup() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


def ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGQUIT, signal.SIG_IGN)


def ignore_children() -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)


def block_two() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1, signal.SIGTERM})


@pytest.mark.parametrize("preset", [fresh_signals, ignore_hup, ignore_interrupts, ignore_children, block_two])
def test_signal_mask_and_ignored_signals_reach_the_command(stage: Stage, way: list[str], preset: object) -> None:
    """The command has the mask and the ignored signals of the runner's caller; Python's own are undone."""

    def both() -> None:
        fresh_signals()
        preset()  # type: ignore[operator]

    direct = finish(stage.start(STATUS, preexec_fn=both))
    assert finish(stage.drive(*way, *STATUS, preexec_fn=both)) == direct


def test_same_group_and_session(stage: Stage) -> None:
    """The command stays in the runner's process group and session."""
    code = "import os; print(os.getpgrp(), os.getsid(0), os.getppid())"
    proc = stage.drive(sys.executable, "-c", code)
    assert finish(proc)[1].split() == [str(proc.pid)] * 3


def test_not_found(stage: Stage, way: list[str]) -> None:
    """A command that is nowhere: 127 and one line that names it."""
    code, out, err = finish(stage.drive(*way, "no-such-\x1b[31mcommand\n"))
    assert (code, out) == (127, "")
    assert err.startswith("no-such-command") and "\x1b" not in err and err.count("\n") == 1
    assert finish(stage.drive(*way, "./nowhere"))[::2] == (127, "./nowhere does not exist.\n")
    assert finish(stage.drive(*way, ""))[0] == 127


def test_missing_interpreter(stage: Stage) -> None:
    """A script whose interpreter is missing: 127, and the text says that the script itself is there."""
    write(stage, "script", "#!/no/such/interpreter\n", 0o755)
    code, _, err = finish(stage.drive("./script"))
    assert code == 127 and "interpreter" in err


def write(stage: Stage, name: str, text: str | bytes, mode: int) -> str:
    path = os.path.join(stage.folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(text.encode() if isinstance(text, str) else text)
    os.chmod(path, mode)
    return path


def test_not_executable(stage: Stage, way: list[str]) -> None:
    """A file without the right to be run, a folder and a foreign program: 126, each with its reason."""
    write(stage, "plain", "echo hello\n", 0o644)
    write(stage, "foreign", b"\x7fELF\x02\x01\x01\0\0\0rubbish", 0o755)
    code, _, err = finish(stage.drive(*way, "./plain"))
    assert (code, "chmod +x" in err) == (126, True)
    code, _, err = finish(stage.drive(*way, "/"))
    assert (code, "folder" in err) == (126, True)
    code, _, err = finish(stage.drive(*way, "./foreign"))
    assert (code, "no program for this machine" in err) == (126, True)
    assert finish(stage.drive(*way, "plain", env={"PATH": stage.folder}))[0] == 126


def test_argument_with_nul(stage: Stage) -> None:
    """What no program can be given (a NUL in an argument) is an error of the start, no crash of the child."""
    code = (
        "import os\n"
        "from coord.run.child import NotExecutable, spawn\n"
        "from coord.run.signals import Signals\n"
        "with Signals() as signals:\n"
        "  try: spawn(['true', 'a\\0b'], os.environ, signals)\n"
        "  except NotExecutable as error: print(error)\n"
    )
    assert finish(stage.start([sys.executable, "-c", code])) == (
        0,
        "true cannot be executed: Invalid argument.\n",
        "",
    )


def test_script_without_interpreter_line(stage: Stage) -> None:
    """A script without #! is run by /bin/sh with its arguments, as shells do."""
    write(stage, "script", 'echo "$0" "$1"\nexit 3\n', 0o755)
    assert finish(stage.drive("./script", "a b")) == (3, "./script a b\n", "")


def test_path_lookup(stage: Stage) -> None:
    """The PATH given to the command decides; folders and files that may not be run are passed over."""
    write(stage, "one/tool/inside", "", 0o644)
    write(stage, "two/tool", "#!/bin/sh\necho two\n", 0o644)
    write(stage, "three/tool", "#!/bin/sh\necho three\n", 0o755)
    path = ":".join(os.path.join(stage.folder, part) for part in ("none", "one", "two", "three"))
    assert finish(stage.drive("tool", env={"PATH": path})) == (0, "three\n", "")


def test_kill_9_of_the_runner_ends_the_command(stage: Stage) -> None:
    """The command does not outlive a runner that was killed -9."""
    proc = stage.drive(*COUNTER)
    child = stage.child()
    proc.kill()
    until(lambda: gone(child), "the command is gone")


def test_stopped_is_known(stage: Stage) -> None:
    """`Child.stopped` follows a command that is stopped and continued; stopping it is no end."""
    code = (
        "import os, sys\n"
        "from coord.run.child import spawn\n"
        "from coord.run.signals import Signals\n"
        "with Signals() as signals:\n"
        "  child = spawn(['sleep', '1000'], os.environ, signals)\n"
        "  print(child.pid, flush=True)\n"
        "  while child.poll() is None:\n"
        "    print(child.stopped, flush=True)\n"
        "    signals.wait(None)\n"
        "  print(child.term_signal, child.exit_code, child.stopped, flush=True)\n"
    )
    proc = stage.start([sys.executable, "-c", code])
    assert proc.stdout is not None
    child = int(proc.stdout.readline())
    said = [proc.stdout.readline().strip()]
    for signo in (signal.SIGSTOP, signal.SIGCONT, signal.SIGKILL):
        os.kill(child, signo)
        said.append(proc.stdout.readline().strip())
    assert said == ["False", "True", "False", "9 None False"]


def test_orphans_are_reaped(stage: Stage) -> None:
    """A runner that is a subreaper leaves no zombies of daemons that ended under it."""
    proc = stage.drive("sh", "-c", "(setsid sleep 1000 & echo $!); read line")
    assert proc.stdout is not None
    orphan = int(proc.stdout.readline())
    until(lambda: [member.pid for member in stage.members("sleep")] == [orphan], "the daemon runs")
    os.kill(orphan, signal.SIGKILL)
    until(lambda: state(orphan) == "", "the orphan is reaped")
    assert finish(proc, "\n")[0] == 0


def test_runner_imports_stay_small(stage: Stage) -> None:
    """The process side imports nothing heavy: it is on the path of every `omp-coord run`."""
    code = (
        "import os, sys; before = set(sys.modules)\n"
        f"sys.path.insert(0, {ROOT!r})\n"
        "from coord.run import child, signals, tree\n"
        "with signals.Signals() as s:\n"
        "  c = child.spawn(['true'], os.environ, s)\n"
        "  child.become_subreaper()\n"
        "  while c.poll() is None: s.wait(1)\n"
        "  assert tree.leftovers(tree.Tree()) == []\n"
        "print(*sorted(m for m in set(sys.modules) - before if not m.startswith('coord')))\n"
    )
    done = finish(stage.start([sys.executable, "-I", "-S", "-c", code]))
    allowed = {"__future__", "_ctypes", "errno", "fcntl", "select"}
    assert done[0] == 0 and set(done[1].split()) <= allowed, done
