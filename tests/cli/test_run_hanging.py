"""The server hangs: `omp-coord run` loses some seconds to it, never its command, its code or the user's patience."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from tests.cli.den import AS_FOR_USERS, Den, den_of
from tests.cli.place import Place, finished, one_line, output
from tests.servers import Server
from tests.waiting import Awake, until

LATE_S = 4.5
"""A server that hangs may cost 3 s, twice that would be a fault; a busy machine adds to each of our steps."""


@pytest.fixture
def own_den() -> Iterator[Den]:
    with den_of(AS_FOR_USERS) as den:
        yield den


@pytest.fixture
def server() -> Iterator[Server]:
    """A server that is asked for by name."""
    with Server("valkey9") as server:
        yield server


@pytest.mark.parametrize("lost", [False, True])
@pytest.mark.parametrize("embedded", [False, True])
def test_hanging_server_at_the_end(own_den: Den, server: Server, embedded: bool, lost: bool) -> None:
    """A server that hangs does not delay the end of a job by more than 3 s, whether that was noticed before or not."""
    place = Place(own_den, None if embedded else server.url)
    gate = place.held()
    running = place.started[0]
    pid = own_den.server_pid() if embedded else server.pid
    os.kill(pid, signal.SIGSTOP)
    with Awake() as clock:
        until(lambda: not lost or clock.seconds > 6, "the server has been missed")
    with Awake() as clock:
        gate.open()
        assert finished(running, 0)[0] == ""
    os.kill(pid, signal.SIGCONT)
    place.close()
    assert clock.seconds < LATE_S


@pytest.mark.parametrize("signo", [signal.SIGINT, signal.SIGTERM])
def test_hanging_server_while_waiting(own_place: Place, signo: int) -> None:
    """A waiter whose server hangs is ended by a signal within 3 s; nothing of it is left when the server goes on."""
    place = own_place
    gate = place.held()
    waiting = place.run("--quiet", "q", "--", "true")
    place.until_jobs(1, "waiting")
    os.kill(place.den.server_pid(), signal.SIGSTOP)
    with Awake() as clock:
        waiting.send_signal(signo)
        output(waiting)
    assert clock.seconds < LATE_S
    assert waiting.returncode == -signo
    os.kill(place.den.server_pid(), signal.SIGCONT)
    gate.open()
    finished(place.run("q", "--", "true"), 0)
    place.expect_empty()


@pytest.mark.parametrize("embedded", [False, True])
def test_hanging_server_at_the_start(own_den: Den, server: Server, embedded: bool) -> None:
    """With a server that hangs a job runs uncoordinated after some seconds, and says so in one line."""
    place = Place(own_den, None if embedded else server.url)
    finished(place.run("q", "--", "true"), 0)
    pid = own_den.server_pid() if embedded else server.pid
    os.kill(pid, signal.SIGSTOP)
    with Awake() as clock:
        out, err = finished(place.run("q", "--", "echo", "ran"), 0)
    os.kill(pid, signal.SIGCONT)
    place.close()
    assert out == "ran\n"
    assert one_line(err).endswith("running without coordination")
    assert clock.seconds < 8  # the answer is waited for, and then another server
