"""A plugin and a command of different versions: one notice, with the line to type."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from coord import __version__
from tests.bridge.host import Host


@pytest.mark.parametrize(
    ("plugin", "line"),
    [
        (__version__, None),
        ("", None),
        (None, None),
        ("0.0.9", "omp-coord plugin install, then start omp again"),
        ("99.10.1", "pip install --upgrade omp-coord"),
        ("99.\x1b[31mx\n", "pip install --upgrade omp-coord"),
    ],
)
def test_the_notice(host: Callable[..., Host], plugin: str | None, line: str | None) -> None:
    """The older one is to be renewed; a plugin that does not say its version is taken as it is."""
    it = host(opened=False)
    opened = it.open(host={"name": "omp", "version": "18.3.4", "plugin": plugin})
    texts = [notice["text"] for notice in opened["notices"] if notice["level"] == "warning"]
    assert [text.rpartition(": ")[2] for text in texts] == ([line] if line else [])
    assert all(__version__ in text and text.isprintable() for text in texts)
