"""What `omp-coord run` says and stores, and whatever it is started with."""

from __future__ import annotations

import json
import os
import re

import pytest

from coord.keys import Keys
from tests.cli.place import ENOUGH_S, Place, finished, one_line
from tests.waiting import until


def on_board(place: Place, *words: str, **options: object) -> dict[str, object]:
    """The record of a job that is started with these words before `q`."""
    gate = place.gate("shown")
    proc = place.run(*words, "q", "--", "bash", "-c", "read -r _ <shown; exit 0", *([]), **options)
    (job,) = place.until_jobs(1, "running")
    gate.open()
    finished(proc, 0)
    os.unlink(place.path("shown"))
    return job


def test_nothing_on_stdout(own_place: Place) -> None:
    """Standard output is the command's alone: through the first start, a wait, a refusal and a missing server."""
    place = own_place
    assert finished(place.run("q", "--", "true"), 0)[0] == ""
    gate = place.held()
    waiting = place.run("q", "--", "printf", "x")
    place.until_jobs(1, "waiting")
    assert finished(place.run("--no-wait", "q", "--", "true"), 75)[0] == ""
    assert finished(place.run("--wait", "100ms", "q", "--", "true"), 75)[0] == ""
    gate.open()
    assert finished(waiting, 0)[0] == "x"
    assert finished(place.run("nope", "--", "true"), 2)[0] == ""
    assert (
        finished(place.run("--strict", "q", "--", "true", env={"OMP_COORD_REDIS_URL": "redis://127.0.0.1:1"}), 69)[0]
        == ""
    )


def test_label_of_blanks(place: Place) -> None:
    """A label that shows nothing is none: the command is shown."""
    job = on_board(place, "--label", " \n ")
    assert job.get("label") is None
    assert str(job["command"]).startswith("bash -c")


def test_waiting_lines_without_a_terminal(place: Place) -> None:
    """When stderr is no terminal: one line at once with the place and the holder, and no more while nothing changes."""
    gate = place.held("--label", "the holder")
    waiting = place.run("q", "--", "true")
    assert waiting.stderr is not None
    line = waiting.stderr.readline()
    assert re.fullmatch(r"omp-coord: waiting for q, place 1 · waited \d+s · the holder since \d\d:\d\d:\d\d\n", line), (
        line
    )
    (job,) = place.jobs("waiting")
    beats = Keys(place.scope).leases
    first = place.redis("ZSCORE", beats, f"j|{job['id']}")
    until(lambda: place.redis("ZSCORE", beats, f"j|{job['id']}") > first, "it has beaten again")
    gate.open()
    assert finished(waiting, 0) == ("", "")


def test_waiting_in_a_paused_scope(place: Place) -> None:
    """The waiting line says why nothing starts although nothing runs."""
    finished(place.run("q", "--", "true"), 0)
    finished(place.sh("omp-coord pause"), 0)
    waiting = place.run("q", "--", "true")
    assert waiting.stderr is not None
    line = waiting.stderr.readline()
    assert re.fullmatch(r"omp-coord: waiting for q, place 1, the scope is paused · waited \d+s\n", line), line
    finished(place.sh("omp-coord resume"), 0)
    assert finished(waiting, 0) == ("", "")


@pytest.mark.parametrize(
    "label",
    [
        "two\nlines",
        "esc \x1b[31mred\x1b]0;title\x07 \x9b1m",
        "émoji 🦊👩‍👩‍👧 ",
        "tab\there",
        "|%7C|%",
        "'; rm -rf '",
        "\u202eevil",
        "x" * 5000,
    ],
)
def test_labels(place: Place, label: str) -> None:
    """A label may hold anything; what is stored and shown is one line without control characters, at most 200 long."""
    job = on_board(place, "--label", label)
    stored = str(job["label"])
    assert stored.isprintable() or "\u200d" in stored
    assert len(stored) <= 200
    assert "command" not in job
    gate = place.held("--label", label)
    _, err = finished(place.run("--no-wait", "q", "--", "true"), 75)
    assert "\x1b" not in err
    assert "held by" in one_line(err)
    gate.open()


def test_label_that_is_no_text(place: Place) -> None:
    """Bytes that are no UTF-8 are stored as replacement characters, in label, owner, agent and command."""
    bad = os.fsdecode(b"caf\xe9")
    words = ("--label", bad, "--owner", bad, "--agent", bad)
    job = on_board(place, *words)
    assert "caf" in str(job["label"])
    out, err = finished(place.run("q", "--", "printf", "%s", bad), 0)
    assert (os.fsencode(out), err) == (b"caf\xe9", "")


@pytest.mark.parametrize(
    ("command", "secret", "kept"),
    [
        (["env", "API_TOKEN=hunter2", "true"], "hunter2", "API_TOKEN="),
        (["true", "--password", "hunter2"], "hunter2", "--password"),
        (["true", "--auth=hunter2"], "hunter2", "--auth="),
        (["true", "-H", "Authorization: Bearer hunter2"], "hunter2", "Bearer"),
        (["true", "https://me:hunter2@example.org/x"], "hunter2", "example.org"),
        (["bash", "-c", "true; SECRET_KEY=hunter2 true"], "hunter2", "SECRET_KEY="),
    ],
)
def test_secrets_never_reach_the_board(place: Place, command: list[str], secret: str, kept: str) -> None:
    """Secrets in a command stand nowhere on the board, in no record, event or tombstone, nor in anybody's refusal."""
    gate = place.held()
    waiting = place.run("--quiet", "q", "--", *command)
    (job,) = place.until_jobs(1, "waiting")
    assert kept in job["command"]
    keys = place.redis("KEYS", f"coord:{{{place.scope}}}:*")
    dump = "".join(str(place.redis("DUMP", key)) for key in keys) + json.dumps(place.jobs())
    gate.open()
    finished(waiting, 0)
    dump += str(place.redis("XRANGE", Keys(place.scope)["EVENTS"], "-", "+")) + str(place.ended())
    assert secret not in dump


def test_huge_command(place: Place) -> None:
    """Arguments of a megabyte in all reach the command; the board keeps 200 characters."""
    words = ["x" * 100_000] * 10
    gate = place.held()
    waiting = place.run("--quiet", "q", "--", "sh", "-c", "echo $#", "sh", *words)
    (job,) = place.until_jobs(1, "waiting")
    assert len(job["command"]) <= 200
    gate.open()
    assert finished(waiting, 0) == ("10\n", "")


def test_command_too_long_for_the_system(place: Place) -> None:
    """A command that no system call takes is 126 with one line, and the slot is free."""
    env = {f"V{n}": "x" * 100_000 for n in range(19)}
    proc = place.run(
        "q", "--", "sh", "-c", 'exec omp-coord run q -- true "$(head -c 130000 /dev/zero | tr "\\0" x)"', env=env
    )
    assert proc.wait(ENOUGH_S) in (0, 126)
    place.expect_empty()


def test_two_thousand_variables(place: Place) -> None:
    """2000 environment variables reach the command."""
    env = {f"VARIABLE_{n}": "x" * 100 for n in range(2000)}
    out, err = finished(place.run("q", "--", "sh", "-c", "env | grep -c ^VARIABLE_", env=env), 0)
    assert (out, err) == ("2000\n", "")


@pytest.mark.parametrize("waiting", [False, True])
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams(place: Place, closed: str, waiting: bool) -> None:
    """Closed standard streams: the command finds them closed, no message goes astray, the code is its own."""
    gate = place.held() if waiting else None
    seen = "for n in 0 1 2 3 4 5 6 7 8 9; do [ -e /proc/$$/fd/$n ] && fds=$fds$n; done; echo $fds >fds; exit 5"
    proc = place.sh(f"omp-coord run q -- sh -c '{seen}' {closed}; echo $? >code")
    if gate is not None:
        place.until_jobs(1, "waiting")
        gate.open()
    proc.wait(ENOUGH_S)
    assert place.read("code") == "5\n"
    numbers = {"<&-": "0", ">&-": "1", "2>&-": "2"}
    assert place.lines("fds") == ["012".translate({ord(numbers[word]): None for word in closed.split()})]
    place.expect_empty()


def test_full_disk_on_stderr(place: Place) -> None:
    """Messages that cannot be written are no failure."""
    gate = place.held()
    proc = place.sh("omp-coord run --wait 200ms q -- true 2>/dev/full; echo $?")
    assert finished(proc, 0)[0] == "75\n"
    gate.open()


def test_closed_pipe_on_stderr(place: Place) -> None:
    """A closed pipe on stderr does not stop a waiter."""
    gate = place.held()
    proc = place.sh("{ omp-coord run q -- echo ran; echo $? >code; } 2> >(exec true)")
    place.until_jobs(1, "waiting")
    gate.open()
    assert finished(proc, 0)[0] == "ran\n"
    assert place.read("code") == "0\n"


def test_removed_folder(place: Place) -> None:
    """In a folder that was removed: one line, 2, nothing is run."""
    script = "mkdir gone; cd gone; rmdir ../gone; omp-coord run q -- echo ran"
    out, err = finished(place.sh(script), 2)
    assert out == ""
    assert "gone" in one_line(err)


def test_folder_removed_while_waiting(place: Place) -> None:
    """A folder that is removed while the job waits: the command starts in it all the same."""
    gate = place.held()
    os.mkdir(place.path("sub"))
    waiting = place.run("--quiet", "q", "--", "echo", "ran", cwd=place.path("sub"))
    place.until_jobs(1, "waiting")
    os.rmdir(place.path("sub"))
    gate.open()
    assert finished(waiting, 0) == ("ran\n", "")


def test_off(own_place: Place) -> None:
    """OMP_COORD=off: the command runs as if the runner were not there; no board, no server, no files, no variables."""
    place = own_place
    env = {"OMP_COORD": "off"}
    out, err = finished(place.run("q", "--", "sh", "-c", "env | grep -c OMP_COORD_JOB; exit 3", env=env), 3)
    assert (out, err) == ("0\n", "")
    assert not os.path.exists(place.env["OMP_COORD_HOME"] + "/machine")
    finished(place.run("q", "--", "sh", "-c", "kill -9 $$", env=env), -9)
    assert "not found" in finished(place.run("q", "--", "no-such-command", env=env), 127)[1]
    finished(place.run("q", "--", "/tmp", env=env), 126)
    finished(place.run("q", "true", env=env), 2)
    assert finished(place.sh("OMP_COORD=off omp-coord run q -- yes | head -1"), 0)[0] == "y\n"


def test_no_file(own_place: Place) -> None:
    """Without a configuration any queue has one slot, and a hint at `omp-coord init` comes once."""
    place = own_place
    place.den.start()
    os.unlink(place.path(".omp-coord.json"))
    _, err = finished(place.run("--quiet", "anything", "--", "true"), 0)
    assert "omp-coord init" in one_line(err)
    script = "omp-coord run --no-wait anything -- true; echo $?"
    # A nested run goes on inside; what comes from elsewhere finds the slot taken.
    out, err = finished(
        place.run("anything", "--", "sh", "-c", f"env -u OMP_COORD_JOB sh -c '{script}' 2>/dev/null"), 0
    )
    assert (out, err) == ("75\n", "")


def test_name_of_a_queue(place: Place) -> None:
    """Without a file, too, a queue's name must be a name."""
    os.unlink(place.path(".omp-coord.json"))
    for name in ("a b", "ä", "q|x", "x" * 65, "a\x1b[31m"):
        _, err = finished(place.run("--quiet", name, "--", "true"), 2)
        assert "is not a name" in err
        assert "\x1b" not in err


def test_owner_is_the_terminal_or_the_caller(place: Place) -> None:
    """Jobs from one script have one owner, those from another script another; `--owner` names one."""
    script = "for i in 1 2; do omp-coord run q -- true; done"
    finished(place.sh(script), 0)
    finished(place.sh(script), 0)
    finished(place.run("--owner", "an|na", "q", "--", "true"), 0)
    owners = [event["owner"] for event in place.events("job_started")]
    assert owners[0] == owners[1] != owners[2] == owners[3]
    assert owners[0].startswith("tester@")
    assert owners[4] == "an%7Cna"


def test_help(place: Place) -> None:
    """`--help` before `--` is help on stdout; after it, it is the command's."""
    out, err = finished(place.run("--help"), 0)
    assert "--time-limit" in out
    assert err == ""
    assert finished(place.run("q", "--", "printf", "%s", "--help"), 0)[0] == "--help"
