"""The line that takes a command through a queue: made, and known again, to the letter."""

from __future__ import annotations

import shlex

import pytest

from coord.bridge.queued import MOST_BYTES, Caller, Queued, is_own_run, line_of, read_line, unqueueable

ME = Caller("/opt/omp/bin/omp-coord", "/home/ann/app/.omp-coord.json", "00ff00ff00ff00ff")
HARD = Caller("/home/o'neill & co/bin/omp-coord", '/tmp/a b"$x`/\n.omp-coord.json', "00ff00ff00ff00ff")
LINE = (
    "/opt/omp/bin/omp-coord run --config /home/ann/app/.omp-coord.json --owner 00ff00ff00ff00ff --agent W0 "
    "build -- bash -c 'make all'"
)


def test_the_line() -> None:
    """As the design writes it; a lane stands before the queue; the command is always in single quotes."""
    assert line_of(Queued("build", None, "make all"), ME, "W0") == LINE
    with_lane = LINE.replace(" build", " --lane quick build").replace("make all", "make")
    assert line_of(Queued("build", "quick", "make"), ME, "W0") == with_lane


@pytest.mark.parametrize("caller", [ME, HARD])
@pytest.mark.parametrize("lane", [None, "quick"])
@pytest.mark.parametrize("agent", ["W0", "it's", "a b"])
@pytest.mark.parametrize(
    "command", ["make", "", "it's", "''", "a\n'b'\n", "\\'", "'\\''", '$x `y` "z" \\', "ü😀", "x" * 9999]
)
def test_it_is_read_back(caller: Caller, lane: str | None, agent: str, command: str) -> None:
    """Queue, lane and command come back as they went in, and a shell sees exactly these words."""
    job = Queued("build", lane, command)
    line = line_of(job, caller, agent)
    assert read_line(line) == read_line(f" \n{line}\n") == job
    words = [caller.program, "run", "--config", caller.config, "--owner", caller.session, "--agent", agent]
    assert shlex.split(line) == [*words, *(["--lane", lane] if lane else []), "build", "--", "bash", "-c", command]


@pytest.mark.parametrize(
    "text",
    [
        LINE.replace("omp-coord run", "omp-coord  run"),
        LINE.replace("/opt/omp/bin/omp-coord run", "omp-coord run"),
        LINE.replace("/opt/omp/bin/omp-coord run", "/opt/omp/bin/other run"),
        LINE.replace(" run ", " status "),
        LINE.replace("--owner 00ff00ff00ff00ff ", ""),
        LINE.replace("--agent W0", "--agent=W0"),
        LINE.replace("--agent W0", "--agent W0 --wait 5m"),
        LINE.replace("--agent W0", '--agent "W0"'),
        LINE.replace("bash -c", "sh -c"),
        LINE.replace("bash -c", "bash -lc"),
        LINE.replace("'make all'", "'make all' x"),
        LINE.replace("'make all'", "'make all'x"),
        LINE.replace("'make all'", '"make all"'),
        LINE.replace("'make all'", ""),
        LINE + "; ls",
        LINE + " | tail",
        LINE + "\nls",
        "cd x && " + LINE,
        "CI=1 " + LINE,
        LINE[:-1],
    ],
)
def test_any_other_line_is_none(text: str) -> None:
    """Somebody wrote it, so it is a command like others."""
    assert read_line(text) is None


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("omp-coord run lint -- ruff check", True),
        (" \nomp-coord run --wait 5m lint -- x | tail", True),
        ("omp-coord\trun\tlint -- x", True),
        ("omp-coord run", True),
        ("/opt/omp/bin/omp-coord run lint -- x", True),
        ("~/.local/bin/omp-coord run lint -- x", True),
        ("'/home/a b/omp-coord' run lint -- x", True),
        ('"$HOME/bin/omp-coord" run lint -- x', True),
        ("CI=1 A= B='x' omp-coord run lint -- x", True),
        (LINE, True),
        ("omp-coord runs", False),
        ("omp-coord status", False),
        ("my-omp-coord run lint -- x", False),
        ("omp-coord-x run lint -- x", False),
        ("echo omp-coord run lint -- x", False),
        ("make; omp-coord run lint -- x", False),
        ("cd x && omp-coord run lint -- x", False),
        ("# omp-coord run", False),
        ("", False),
    ],
)
def test_an_omp_coord_run_by_hand(text: str, own: bool) -> None:
    """It begins the command, under whatever path, with variables in front or not."""
    assert is_own_run(text) is own


def test_what_cannot_be_queued() -> None:
    """A command that is no argument, in bytes; and every command while the place of omp-coord is not known."""
    assert unqueueable(Queued("build", None, "x" * MOST_BYTES), ME) is None
    for command in ("x" * (MOST_BYTES + 1), "ü" * (MOST_BYTES // 2 + 1)):
        assert "128 KiB" in (unqueueable(Queued("build", None, command), ME) or "")
    assert "not know" in (unqueueable(Queued("build", None, "x"), ME._replace(program="")) or "")
