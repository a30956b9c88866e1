"""How `omp-coord run` ends: every exit code."""

from __future__ import annotations

import os
import re
import signal

import pytest

from tests.cli.den import NOBODY, den_of
from tests.cli.place import Place, finished, one_line


@pytest.mark.parametrize("code", [0, 1, 7, 69, 75, 124, 255])
def test_own_code(place: Place, code: int) -> None:
    """The command's own code is the runner's, and nothing is said."""
    assert finished(place.run("q", "--", "sh", "-c", f"exit {code}"), code) == ("", "")
    assert place.outcomes() == ["failed" if code else "ok"]
    place.expect_empty()


@pytest.mark.parametrize("signo", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV, signal.SIGPIPE])
def test_dies_of_the_same_signal(place: Place, signo: int) -> None:
    """When a signal ended the command, the runner dies by it too, without a core file, so a shell sees 128 + n."""
    finished(place.run("q", "--", "sh", "-c", f"ulimit -c 0; kill -{int(signo)} $$"), -signo)
    assert [how["signal"] for how in place.ended().values()] == [signo]
    assert place.outcomes() == ["signal"]
    assert not [name for name in os.listdir(place.folder) if name.startswith("core")]
    place.expect_empty()


def test_shell_sees_128_and_n(place: Place) -> None:
    """In a script `$?` is 128 + n."""
    out, _ = finished(place.sh("omp-coord run q -- sh -c 'kill -9 $$' 2>&1; echo code $?"), 0)
    assert out.splitlines()[-1] == "code 137"


def test_time_limit(place: Place) -> None:
    """124 when the time limit ended the command; the line says limit and elapsed."""
    _, err = finished(place.run("--time-limit", "300ms", "q", "--", "sleep", "100"), 124)
    told = re.match(r"time limit of 0\.3 s reached after (\d+\.\d) s", one_line(err))
    assert told and float(told[1]) >= 0.3
    assert place.outcomes() == ["timedOut"]
    place.expect_empty()


def test_time_limit_of_a_trapping_command(place: Place) -> None:
    """124 also when the command traps TERM and exits 0."""
    command = ["bash", "-c", "trap 'exit 0' TERM; echo ready; while :; do read -rt 0.05 _ </dev/zero; done"]
    out, _ = finished(place.run("--time-limit", "3s", "q", "--", *command), 124)  # time to set the trap
    assert out == "ready\n"
    assert place.outcomes() == ["timedOut"]


def test_not_found(place: Place) -> None:
    """127 for a command that does not exist, with one line, and the slot is free again."""
    _, err = finished(place.run("q", "--", "no-such-command"), 127)
    assert "no-such-command is not found" in one_line(err)
    _, err = finished(place.run("q", "--", "./no-such-file"), 127)
    assert "does not exist" in one_line(err)
    assert place.outcomes() == ["notFound", "notFound"]
    place.expect_empty()


def test_found_when_it_starts(place: Place) -> None:
    """The command is looked up when the job starts, not when it begins to wait."""
    gate = place.gate()
    place.run("q", "--", *gate.command())
    gate.waits()
    waiting = place.run("--quiet", "q", "--", "./later")
    place.until_jobs(1, "waiting")
    os.chmod(place.write("later", "#!/bin/sh\necho made\n"), 0o755)
    gate.open()
    assert finished(waiting, 0) == ("made\n", "")


def test_not_executable(place: Place) -> None:
    """126 for a file that may not be executed, and for a folder."""
    place.write("data", "text\n")
    _, err = finished(place.run("q", "--", "./data"), 126)
    assert "chmod +x" in one_line(err)
    _, err = finished(place.run("q", "--", "/tmp"), 126)
    assert "folder" in one_line(err)
    assert place.outcomes() == ["notExecutable", "notExecutable"]
    place.expect_empty()


@pytest.mark.parametrize("words", [["--no-wait"], ["--wait", "0"], ["--wait=0s"]])
def test_busy(place: Place, words: list[str]) -> None:
    """75 at once with `--no-wait` (or `--wait 0`) while the slot is taken: it says by whom, and never joins the line."""
    gate = place.gate()
    place.run("--label", "the holder", "q", "--", *gate.command())
    gate.waits()
    out, err = finished(place.run(*words, "q", "--", "echo", "ran"), 75)
    assert out == ""
    assert one_line(err) == "no slot of q is free (held by the holder)"
    assert place.events("job_queued")[1:] == []
    gate.open()
    place.expect_empty()


def test_wait_expires(place: Place) -> None:
    """75 when no slot came within `--wait`; the place is given up."""
    gate = place.gate()
    place.run("--label", "the holder", "q", "--", *gate.command())
    gate.waits()
    out, err = finished(place.run("--wait", "400ms", "--quiet", "q", "--", "echo", "ran"), 75)
    assert out == ""
    assert one_line(err) == "no slot of q within 0.4 s (held by the holder)"
    assert len(place.jobs()) == 1
    gate.open()
    place.expect_empty()


def test_cancelled(place: Place) -> None:
    """75 when somebody takes the waiting job out of the line; the line says who and why."""
    gate = place.gate()
    place.run("q", "--", *gate.command())
    gate.waits()
    waiting = place.run("--quiet", "q", "--", "echo", "ran")
    (job,) = place.until_jobs(1, "waiting")
    assert place.board.job_cancel(job["id"], by="anna", reason="not\x1b[31m now").verdict == "cancelled"
    out, err = finished(waiting, 75)
    assert out == ""
    assert one_line(err) == "the wait for q was cancelled by anna: not now"
    gate.open()
    place.expect_empty()


def test_killed_by_cancel(place: Place) -> None:
    """143 when a running job is killed from elsewhere, whatever the command makes of the TERM; it says by whom."""
    running = place.run(
        "q", "--", "bash", "-c", "trap 'exit 3' TERM; echo up; while :; do read -rt 0.05 _ </dev/zero; done"
    )
    assert running.stdout is not None
    assert running.stdout.readline() == "up\n"
    (job,) = place.jobs("running")
    assert place.board.job_cancel(job["id"], by="anna", reason="lunch", kill=True).verdict == "killing"
    _, err = finished(running, -signal.SIGTERM)
    assert one_line(err) == "ended by anna: lunch"
    assert place.outcomes() == ["killed"]
    (how,) = place.ended().values()
    assert how["by"] == "anna"
    place.expect_empty()


def test_strict_without_a_server(place: Place) -> None:
    """69 with `--strict` when there is no server: the command is not run."""
    env = {"OMP_COORD_REDIS_URL": NOBODY}
    out, err = finished(place.run("--strict", "q", "--", "echo", "ran", env=env), 69)
    assert out == ""
    assert "127.0.0.1:1" in one_line(err)


def test_fails_open_without_a_server(place: Place) -> None:
    """Without `--strict` the command runs, one line says so, and the exit code is its own."""
    env = {"OMP_COORD_REDIS_URL": NOBODY}
    out, err = finished(place.run("--quiet", "q", "--", "sh", "-c", "echo ran; exit 3", env=env), 3)
    assert out == "ran\n"
    assert one_line(err).endswith("running without coordination")


def test_time_limit_without_a_server(place: Place) -> None:
    """The shorter of the file's and the caller's time limit holds without a board too."""
    place.queues(q={"slots": 1, "timeLimit": "300ms"})
    env = {"OMP_COORD_REDIS_URL": NOBODY}
    _, err = finished(place.run("--time-limit", "1h", "q", "--", "sleep", "100", env=env), 124)
    assert "time limit of 0.3 s" in err


def test_longer_time_limit_than_allowed(place: Place) -> None:
    """`--time-limit` never lengthens the queue's: its value holds, and one line says so."""
    place.queues(q={"slots": 1, "timeLimit": "300ms"})
    _, err = finished(place.run("--time-limit", "1h", "q", "--", "sleep", "100"), 124)
    assert "time limit of 0.3 s reached" in err
    assert any("1h" in line or "3600" in line for line in err.splitlines()[:1]), err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "needs a queue"),
        (("q",), "needs a queue and, after `--`, a command"),
        (("q", "--"), "no command after `--`"),
        (("--", "true"), "name one queue"),
        (("q", "other", "--", "true"), "name one queue"),
        (("q", "true"), "omp-coord run q -- true"),
        (("--strict", "q", "ls", "-l"), "omp-coord run --strict q -- ls -l"),
        (("--lane", "a", "q", "ls"), "omp-coord run --lane a q -- ls"),
        (("--strickt", "q", "--", "true"), "did you mean --strict"),
        (("--wait", "-1", "q", "--", "true"), "negative"),
        (("--wait", "soon", "q", "--", "true"), "not a duration"),
        (("--time-limit", "10x", "q", "--", "true"), "--time-limit"),
        (("--time-limit", "0", "q", "--", "true"), "--time-limit 0"),
        (("--wait", "1", "--no-wait", "q", "--", "true"), "exclude"),
        (("--wait", "--", "true"), "--wait needs a value"),
        (("q", "--wait", "--", "true"), "--wait needs a value"),
        (("buld", "--", "true"), "build"),
        (("--lane", "quik", "build", "--", "true"), "quick"),
        (("--config", "no-such-file", "q", "--", "true"), "no-such-file"),
        (("--scope", "a b", "q", "--", "true"), "scope"),
        (("--redis", "http://x", "q", "--", "true"), "http"),
        (("--redis", "redis://127.0.0.1:notaport", "q", "--", "true"), "notaport"),
    ],
)
def test_usage(place: Place, words: tuple[str, ...], says: str) -> None:
    """2 for words that cannot be meant so: one line that says what to do, and nothing is run."""
    place.queues(q={"slots": 1}, build={"slots": 2, "lanes": {"quick": {"priority": 1}}})
    out, err = finished(place.run(*words), 2)
    assert out == ""
    assert says in one_line(err)
    assert place.redis("KEYS", f"coord:{{{place.scope}}}:*") == []


def test_options_after_the_queue(place: Place) -> None:
    """Options may stand before or after the queue."""
    assert finished(place.run("q", "--quiet", "--label=x", "--", "echo", "--quiet"), 0) == ("--quiet\n", "")


@pytest.mark.parametrize("signo", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_ended_while_waiting(place: Place, signo: int) -> None:
    """A signal that ends a waiting runner: it dies of it, and its place is given up before that."""
    gate = place.gate()
    place.run("q", "--", *gate.command())
    gate.waits()
    waiting = place.run("--quiet", "q", "--", "echo", "ran")
    place.until_jobs(1, "waiting")
    waiting.send_signal(signo)
    assert finished(waiting, -signo) == ("", "")
    assert len(place.jobs()) == 1
    gate.open()
    place.expect_empty()


@pytest.mark.parametrize("signo", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1])
def test_passed_on_while_running(place: Place, signo: int) -> None:
    """A signal sent to the runner alone reaches the command, once."""
    script = f"trap 'echo got; exit 4' {int(signo)}; echo up; while :; do read -rt 0.05 _ </dev/zero; done"
    running = place.run("q", "--", "bash", "-c", script)
    assert running.stdout is not None
    assert running.stdout.readline() == "up\n"
    running.send_signal(signo)
    assert finished(running, 4) == ("got\n", "")


def test_interrupted_before_it_takes_signals() -> None:
    """INT at its start, while it reads the configuration: the runner dies of it, without a word."""
    interrupted = """
from coord.config import load
def interrupt(*args, **named):
    import os
    os.kill(os.getpid(), 2)
load.load = interrupt
"""
    with den_of(interrupted) as den:
        place = Place(den)
        assert finished(place.run("q", "--", "echo", "ran"), -signal.SIGINT) == ("", "")
        place.close()
