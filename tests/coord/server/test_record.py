"""Where a scope lives, written down."""

from __future__ import annotations

import os
import stat

import pytest

from coord.home import Home
from coord.server import record


def test_round_trip(home: Home) -> None:
    """What is written is read, from a private file that a person can read too."""
    record.write(home, "app", "unix:///x%20y", True, skipped="wants\na password")
    known = record.read(home, "app")
    assert known is not None
    assert (known.url, known.embedded, known.named, known.skipped) == (
        "unix:///x%20y",
        True,
        False,
        "wants a password",
    )
    assert known.boot == record.boot_id()
    assert -1 < known.age < 60
    assert stat.S_IMODE(os.stat(record.path(home, "app")).st_mode) == 0o600
    assert os.listdir(home.scopes()) == ["app.scope"]


@pytest.mark.parametrize("content", ["", "url=\nembedded=1\n", "url=unix:///x\n", "\x00\x00", "embedded=1\n"])
def test_broken_is_none(home: Home, content: str) -> None:
    """A record that was cut short counts as none."""
    home.scopes()
    with open(record.path(home, "app"), "w") as file:
        file.write(content)
    assert record.read(home, "app") is None


def test_age(home: Home) -> None:
    """The age is the time since the record was last written; one that is missing is none."""
    assert record.read(home, "app") is None
    record.write(home, "app", "redis://h:1", False, named=True)
    young = record.read(home, "app")
    os.utime(record.path(home, "app"), (1, 1))
    old = record.read(home, "app")
    assert old is not None
    assert young is not None
    assert old.age > 1_000_000 > young.age
    assert young.named


def test_file_names_never_meet() -> None:
    """Scopes that differ in case, or are called like folders, have files of their own on any file system."""
    names = [record.file_name(scope).lower() for scope in ("app", "App", "aPP", ".", "..", "a.p", "-", "_")]
    assert len(set(names)) == len(names)
    assert not {".", ".."} & set(names)
