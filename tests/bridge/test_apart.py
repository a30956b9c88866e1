"""Sessions that cannot see each other's processes, that hang for long, and whose server goes for good."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable
from typing import Any

import pytest

from coord.server import record
from coord.wire import connect
from tests.bridge.conftest import settled
from tests.bridge.host import Host
from tests.bridge.test_sessions import sessions, slots
from tests.cli.den import Den
from tests.cli.place import Place
from tests.servers import Server
from tests.waiting import until

Hosts = Callable[..., Host]
UNSHARE = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
STOPPED_S = 60.0
"""As long as the issue of a laptop's lid, and six times the usual lease."""


class Container(Host):
    """A host whose bridge runs in a pid namespace of its own, where the host is process 1."""

    def words(self) -> list[str]:
        # The shell stays as process 1, the host; it ends with its bridge.
        return [*UNSHARE, "sh", "-c", f"{' '.join(super().words())}; true"]

    @property
    def pid(self) -> int:
        return 1


def container(place: Place, name: str) -> Container:
    if subprocess.run([*UNSHARE, "true"], capture_output=True, check=False).returncode:
        pytest.skip("unshare --pid is not permitted here")
    return Container(place, name)


def test_pid_namespaces_are_different_machines(host: Hosts, place: Place, agents: Any) -> None:
    """Process 1 of a container is no process 1 of ours: each is judged by its lease, and by nobody's process table."""
    agents(lease=4)  # each must beat within it, once a second, on a busy machine as well
    inside, also_inside = container(place, "inside"), container(place, "also-inside")
    for it in (inside, also_inside):
        assert it.open()["active"]
    outside = host()
    machines = {record["machine"] for record in sessions(place).values()}
    assert len(machines) == 3
    inside.run("W0")
    also_inside.run("W1")
    assert not outside.spawn()["allowed"]
    beats = {it.session: 0.0 for it in (inside, also_inside)}
    for _ in range(5):  # over more than one lease nobody takes anybody for dead
        for session, before in beats.items():
            until(lambda session=session, before=before: _lease(place, session) > before, "it beats")
            beats[session] = _lease(place, session)
    assert slots(place) == {"W0": "running", "W1": "running"}
    inside.kill_bridge()  # `unshare --kill-child`: all of the container
    outside.until_told("deliver", "held")
    assert sorted(sessions(place)) == ["B", "C"]
    assert place.events("session_left")[-1]["session"] == inside.session
    assert also_inside.spawn("reviewer")["allowed"]


def test_stopped_for_a_minute(host: Hosts, den: Den, server: Server, place: Place) -> None:
    """SIGSTOP for a minute, six leases: one beside a session that waits for its slots, one alone. Nobody is reaped, and
    both go on as if nothing had been."""
    it, other = host(), host()
    it.run("W0")
    it.run("W1")
    assert not other.spawn()["allowed"]
    lonely = Place(den, server.url)
    lonely.config(agents={"pools": {"work": {"cap": 2}}})
    settled(lonely)
    alone = Host(lonely, "alone")
    assert alone.open()["active"]
    alone.run("V0")
    for one in (it, alone):
        one.freeze()
    time.sleep(STOPPED_S)  # the passing of time is what is tested
    assert slots(place) == {"W0": "running", "W1": "running"}
    for one in (it, alone):
        one.thaw()
    assert it.spawn("reviewer")["allowed"]
    assert alone.spawn()["allowed"]
    assert slots(lonely)["V0"] == "running"
    it.ended("W0")
    other.until_told("deliver", "held")
    assert place.events("session_left") == lonely.events("session_left") == []


def test_starved(host: Hosts, place: Place, agents: Any) -> None:
    """A bridge that gets a few milliseconds every now and then, with leases too short for it, keeps all it has."""
    agents(lease=2)
    it, other = host(), host()
    it.run("W0")
    it.run("W1")
    assert not other.spawn()["allowed"]
    for _ in range(4):
        os.kill(it.bridge.pid, signal.SIGSTOP)
        lease = _lease(place, it.session)
        until(lambda lease=lease: _lease(place, it.session) > lease, "another session vouches for it")
        os.kill(it.bridge.pid, signal.SIGCONT)
        os.sched_yield()
    assert slots(place) == {"W0": "running", "W1": "running"}
    assert it.spawn("reviewer")["coordinated"]
    assert place.events("session_left") == []


def test_a_server_that_never_comes_back(den: Den) -> None:
    """Its sessions meet again on another one, which knew nothing of them: with their letters, and all that runs counts."""
    place = Place(den)
    with contextlib.ExitStack() as stack:
        stack.callback(place.close)
        folder = f"{den.folder}/gone"
        os.mkdir(folder)
        server = stack.enter_context(Server("redis7", folder=folder))
        place.config(agents={"pools": {"work": {"cap": 2}}})
        record.write(den.home, place.scope, server.url, False)  # where somebody of this scope lives
        hosts = [Host(place, f"moves-{n}") for n in range(3)]
        assert [it.open()["label"] for it in hosts] == ["A", "B", "C"]
        for n, it in enumerate(hosts[:2]):
            it.run(f"W{n}")
        assert connect(server.url).call("HLEN", f"coord:{{{place.scope}}}:sessions") == 3
        server.kill()
        until(lambda: _there(place) == ["A", "B", "C"], "all are on the embedded server", 60)
        until(lambda: slots(place) == {"W0": "running", "W1": "running"}, "what runs counts there")
        until(lambda: hosts[2].spawn()["coordinated"], "the new board has settled")
        assert not hosts[2].spawn()["allowed"]
        hosts[0].ended("W0")
        hosts[2].until_told("deliver", "held")


def _there(place: Place) -> list[str]:
    try:
        return sorted(sessions(place))
    except Exception:
        return []


def _lease(place: Place, session: str) -> float:
    return float(place.redis("ZSCORE", place.board.keys["LEASES"], f"s|{session}") or 0)
