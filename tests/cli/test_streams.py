"""Commands whose stdin, stdout or stderr is closed, full, or read by nobody."""

from __future__ import annotations

import pytest

from tests.cli.place import Place, finished

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
