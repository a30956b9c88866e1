"""The lock between processes."""

from __future__ import annotations

import fcntl
import os

import pytest

from coord.errors import Unavailable
from coord.server.lock import Lock


def test_one_at_a_time(folder: str) -> None:
    """Who holds it keeps others out, who then give up in time; afterwards it is free."""
    with Lock(folder + "/lock", 1.0), pytest.raises(Unavailable, match="try again"), Lock(folder + "/lock", 0.0):
        raise AssertionError("two hold it")
    with Lock(folder + "/lock", 0.0):
        pass


def test_ctrl_c_leaves_nothing(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Interrupted, even in the moment in which it got the lock, a program that goes on keeps neither lock nor file."""
    before = len(os.listdir("/dev/fd"))

    def interrupted(fd: int, how: int) -> None:
        real(fd, how)
        raise KeyboardInterrupt

    real = fcntl.flock
    monkeypatch.setattr(fcntl, "flock", interrupted)
    with pytest.raises(KeyboardInterrupt), Lock(folder + "/lock", 1.0):
        raise AssertionError("it was interrupted")
    monkeypatch.undo()
    assert len(os.listdir("/dev/fd")) == before
    with Lock(folder + "/lock", 0.0):
        pass
