"""Nobody reads what `omp-coord run` says: it says it later or not at all, and does what it is there for all the same."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

import pytest

from coord.keys import Keys
from tests.cli.place import Place, code_of
from tests.cli.terminal import STOP
from tests.waiting import until

FULL = 1 << 16
"""More than a pipe takes whose reader does not read: who writes it waits for ever."""


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    """A pipe whose reader, a pager say, does not read."""
    ends = os.pipe()
    yield ends
    for end in ends:
        os.close(end)


@pytest.mark.parametrize("why", ["limit", "cancel"])
def test_full_pipe(place: Place, pipe: tuple[int, int], why: str) -> None:
    """A command whose output nobody reads is ended by its time limit, and by `queue cancel --kill`; the slot is free."""
    words = ["--time-limit", "1s"] if why == "limit" else []
    running = place.run(*words, "q", "--", "yes", stdout=pipe[1], stderr=pipe[1])
    if why == "cancel":
        (job,) = place.until_jobs(1, "running")
        place.board.job_cancel(job["id"], by="somebody", kill=True)
    assert code_of(running) == (124 if why == "limit" else -15)
    place.expect_empty()


def test_read_on_in_the_end(place: Place, pipe: tuple[int, int]) -> None:
    """What could not be said at its time is said at the end."""
    gate = place.gate()
    script = f"exec 2>&-; trap 'echo >termed; read -r _ <{gate.name}' TERM; head -c {FULL} /dev/zero; sleep 1000"
    running = place.run("--time-limit", "1s", "q", "--", "bash", "-c", script, stdout=pipe[1], stderr=pipe[1])
    until(lambda: place.lines("termed"), "the command has been told to end")
    os.set_blocking(pipe[0], False)
    with contextlib.suppress(BlockingIOError):
        while os.read(pipe[0], FULL):
            pass
    gate.open()
    assert code_of(running) == 124
    assert os.read(pipe[0], FULL).startswith(b"omp-coord: time limit of 1 s reached")


def test_halted_terminal(place: Place) -> None:
    """Ctrl-S halts the output of the terminal, and nobody's work: who waits goes on beating, and gets its turn."""
    gate = place.held()
    terminal = place.terminal()
    terminal.type("omp-coord run q -- sh -c 'echo >ran'\n")
    terminal.expect("waiting for q")
    terminal.type(STOP)
    (job,) = place.until_jobs(1, "waiting")
    halted = _lease(place, job["id"])
    until(lambda: _lease(place, job["id"]) > halted + 3000, "it has gone on beating")
    gate.open()
    until(lambda: place.lines("ran"), "it has had its turn")
    place.expect_empty()


@pytest.mark.parametrize("waiting", [False, True])
def test_background_job_that_may_not_write(place: Place, waiting: bool) -> None:
    """With `stty tostop` a background job is not stopped by a line of its runner: it gets its turn, and its limit."""
    if waiting:
        gate = place.held()
    terminal = place.terminal()
    terminal.type("stty tostop\n")
    terminal.expect("ready> ")
    terminal.type("omp-coord run --time-limit 1s q -- sh -c 'echo >ran; exec sleep 1000' &\n")
    if waiting:
        terminal.expect("waiting for q")
        gate.open()
    terminal.expect("time limit of 1 s reached")
    assert place.lines("ran")
    place.expect_empty()


def _lease(place: Place, job: str) -> int:
    """Until when it is believed to live, in milliseconds."""
    return int(float(place.redis("ZSCORE", Keys(place.scope)["LEASES"], f"j|{job}")))
