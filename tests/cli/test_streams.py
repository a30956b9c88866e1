"""Commands whose stdin, stdout or stderr is closed, full, or read by nobody."""

from __future__ import annotations

import errno
import os
import sys

import pytest

from omp_coord import app, terminal
from omp_coord.exits import Exit
from tests.cli.place import Place, code_of, finished

COMMANDS = ("status", "status --json", "queue list", "config schema", "config check", "paths", "--help", "run --help")


@pytest.mark.parametrize("words", COMMANDS)
def test_nobody_listens(place: Place, words: str) -> None:
    """With all three closed a command does its work and ends well."""
    assert finished(place.sh(f"omp-coord {words} <&- >&- 2>&-"), 0) == ("", "")
    assert finished(place.sh(f"omp-coord {words} >&-"), 0) == ("", "")


@pytest.mark.parametrize("words", COMMANDS)
def test_full_disk(place: Place, words: str) -> None:
    """What cannot be written is said in one line, exit 1."""
    _, err = finished(place.sh(f"omp-coord {words} >/dev/full"), 1)
    assert err == "omp-coord: stdout cannot be written: No space left on device\n"


@pytest.mark.parametrize("words", COMMANDS)
def test_closed_pipe(place: Place, words: str) -> None:
    """When the reader of a pipe has gone there is nothing to say."""
    assert finished(place.sh(f"omp-coord {words} | true; exit 0"), 0) == ("", "")


def test_error_with_closed_stderr(place: Place) -> None:
    """A line for people is not written into the file that happens to have stderr's number."""
    assert finished(place.sh("omp-coord run nope -- true 2>&- ; omp-coord queue list nope 2>&-"), 2) == ("", "")


@pytest.mark.parametrize(
    "words", ["queue list nope", "config check --config nope.json", "line leave", "run nope -- true"]
)
def test_full_stderr(place: Place, words: str) -> None:
    """A line that cannot be written to stderr changes no exit code."""
    code = code_of(place.sh(f"omp-coord {words}"))
    assert code
    assert finished(place.sh(f"omp-coord {words} 2>/dev/full"), code) == ("", "")


def test_trusted_though_stdout_is_full(place: Place) -> None:
    """What stdout does not take is no fault of the state folder."""
    place.config(redis={"url": "redis://board.example.org"})
    _, err = finished(place.sh("omp-coord config trust >/dev/full"), 1)
    assert err == "omp-coord: stdout cannot be written: No space left on device\n"


def test_stdout_that_does_not_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever shares a full pipe with us may have made it non-blocking: it is waited for, and gets all."""
    reader, writer = os.pipe()
    monkeypatch.setattr(sys, "stdout", os.fdopen(writer, "w", encoding="utf-8"))
    monkeypatch.setattr(sys, "__stdout__", sys.stdout)
    terminal.open_streams()
    os.set_blocking(writer, False)
    filled = 0
    while (more := _written(writer)) > 0:
        filled += more
    got: list[bytes] = []
    monkeypatch.setattr(terminal.select, "select", lambda *_: got.append(os.read(reader, filled)))
    terminal.write("all of it")
    assert [os.read(reader, 64), len(got)] == [b"all of it", 1]
    os.close(reader)


def _written(fd: int) -> int:
    try:
        return os.write(fd, bytes(4096))
    except BlockingIOError:
        return 0


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), "No space left on device"),
        (OSError(errno.EACCES, os.strerror(errno.EACCES), "/x/y"), "/x/y: Permission denied"),
        (BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE)), "Broken pipe"),
    ],
    ids=["no file", "a file", "a connection"],
)
def test_other_errors_of_the_system(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], error: OSError, said: str
) -> None:
    """What the system refuses elsewhere is not said to be stdout's, and not passed over."""

    def fails(**_: object) -> None:
        raise error

    monkeypatch.setattr(app, "app", fails)
    assert app.main() == Exit.FAILED
    assert capfd.readouterr() == ("", f"omp-coord: {said}\n")
