"""coord.liveness on sessions: host and bridge are two processes, and each may be gone without the other."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from coord import liveness
from coord.machine import machine_id, start_of

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
HERE = machine_id()
GONE = {"pid": 2**22 - 1, "start": "1"}


@pytest.fixture
def alive() -> Iterator[dict[str, Any]]:
    """A process that lives until the test is over."""
    process = subprocess.Popen(["sleep", "100"])
    yield {"pid": process.pid, "start": start_of(process.pid)}
    process.kill()
    process.wait()


def seen(process: dict[str, Any], bridge: dict[str, Any] | None, machine: str = HERE) -> list[dict[str, Any]]:
    one = {"kind": "session", "id": "s", "machine": machine, "process": {**process, "instance": "i"}, "bridge": bridge}
    return liveness.look([one], HERE)


@pytest.mark.parametrize(
    ("host", "bridge", "verdict"),
    [
        ("alive", "alive", "live"),
        ("alive", "gone", "bridgeless"),
        ("gone", "alive", "gone"),
        ("gone", "gone", "gone"),
        ("alive", None, "live"),
        ("recycled", "alive", "gone"),
        ("alive", "recycled", "bridgeless"),
    ],
)
def test_what_is_said_of_a_session(alive: dict[str, Any], host: str, bridge: str | None, verdict: str) -> None:
    """The host decides; without its bridge it is told so, and the board gives it time for another one."""
    known = {"alive": alive, "gone": GONE, "recycled": {"pid": alive["pid"], "start": "1"}}
    (entry,) = seen(known[host], known[bridge] if bridge else None)
    assert entry == {"kind": "session", "id": "s", **known[host], "instance": "i", "is": verdict}


def test_sessions_of_other_machines_are_not_looked_at() -> None:
    """Their pids mean nothing here."""
    assert seen(GONE, GONE, machine="elsewhere") == []


def test_a_job_has_no_bridge() -> None:
    """A job's record is never called bridgeless."""
    me = {"pid": os.getpid(), "start": start_of(os.getpid()), "instance": "i"}
    (entry,) = liveness.look([{"id": "j", "machine": HERE, "process": me, "state": "running", "bridge": GONE}], HERE)
    assert (entry["kind"], entry["is"]) == ("job", "live")
