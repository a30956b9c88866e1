"""A participant's contact with its board, where no server is needed."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from coord import contact
from coord.config.settings import Settings
from coord.contact import Contact
from coord.errors import Unavailable
from coord.home import Home
from coord.server.choose import Choice


@pytest.mark.parametrize(("took", "pause"), [(0.01, 2.0), (1.0, 20.0), (2.5, 50.0), (3600.0, 60.0)])
def test_a_look_that_found_no_server(folder: str, monkeypatch: pytest.MonkeyPatch, took: float, pause: float) -> None:
    """The longer it took the longer the next one waits, but never over a minute: a machine may have slept meanwhile."""
    now = 1000.0
    monkeypatch.setattr(contact, "time", SimpleNamespace(monotonic=lambda: now))
    lost = Contact(Settings(None, "app"), Home.find({"OMP_COORD_HOME": folder + "/home"}), {})

    def nowhere() -> None:
        nonlocal now
        now += took
        raise Unavailable("there is none")

    monkeypatch.setattr(lost, "_chosen", nowhere)
    with pytest.raises(Unavailable):
        lost.open()
    assert lost.retry_in == pytest.approx(pause)
    now += pause
    assert lost.retry() is None
    assert lost.retry_in == pytest.approx(pause)


def test_a_notice_is_said_once(tmp_path: object) -> None:
    """A server that is of no use is chosen again every two seconds; what there is to say about that is said once."""
    contact = Contact(Settings(None, "app"), Home.find({"OMP_COORD_HOME": f"{tmp_path}/home"}), {})
    for notices in (["full"], ["full"], ["full", "other"]):
        with pytest.raises(Unavailable):
            contact._connect(Choice(None, False, notices=notices))
    assert contact.told() == ["full", "other"]
