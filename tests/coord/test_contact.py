"""A participant's contact with its board, where no server is needed."""

from __future__ import annotations

import pytest

from coord.config.settings import Settings
from coord.contact import Contact
from coord.errors import Unavailable
from coord.home import Home
from coord.server.choose import Choice


def test_a_notice_is_said_once(tmp_path: object) -> None:
    """A server that is of no use is chosen again every two seconds; what there is to say about that is said once."""
    contact = Contact(Settings(None, "app"), Home.find({"OMP_COORD_HOME": f"{tmp_path}/home"}), {})
    for notices in (["full"], ["full"], ["full", "other"]):
        with pytest.raises(Unavailable):
            contact._connect(Choice(None, False, notices=notices))
    assert contact.told() == ["full", "other"]
