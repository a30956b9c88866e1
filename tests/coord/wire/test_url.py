"""coord.wire.url: which server a URL means, and that no password is ever shown."""

from __future__ import annotations

from typing import Any

import pytest

from coord.errors import ConfigError
from coord.wire.url import Address, hide_password

GOOD: list[tuple[str, dict[str, Any]]] = [
    ("redis://h", {"scheme": "redis", "hosts": [("h", 6379)], "plain": True}),
    ("redis://h/", {"db": 0}),
    ("redis://h:7/3", {"hosts": [("h", 7)], "db": 3}),
    ("redis://h?db=3", {"db": 3}),
    ("redis://user:word@h", {"user": "user", "password": "word", "hosts": [("h", 6379)]}),
    ("redis://:word@h", {"user": None, "password": "word"}),
    ("redis://word@h", {"user": None, "password": "word"}),
    ("redis://:@h", {"user": None, "password": None}),
    ("redis://u:p%40%3A%2F%25@h", {"password": "p@:/%"}),
    ("redis://u:p@q@h", {"password": "p@q"}),
    ("redis://u:p/q?r#s@h/1", {"password": "p/q?r#s", "hosts": [("h", 6379)], "db": 1}),
    ("redis://[::1]:7", {"hosts": [("::1", 7)]}),
    ("redis://[::1]", {"hosts": [("::1", 6379)]}),
    ("redis://::1", {"hosts": [("::1", 6379)]}),
    ("redis://[fe80::1%eth0]:7", {"hosts": [("fe80::1%eth0", 7)]}),
    ("rediss://h", {"scheme": "rediss", "plain": False}),
    ("unix:///a/b", {"path": "/a/b", "hosts": [], "plain": True}),
    ("unix:///a%20b?db=2", {"path": "/a b", "db": 2}),
    ("unix://u:p@/a", {"path": "/a", "user": "u", "password": "p"}),
    ("redis+sentinel://h/m", {"hosts": [("h", 26379)], "service": "m", "plain": False}),
    ("redis+sentinel://u:p@h:1,i/m?db=2", {"hosts": [("h", 1), ("i", 26379)], "password": "p", "db": 2}),
    ("redis+cluster://h:1,[::1]:2,i", {"hosts": [("h", 1), ("::1", 2), ("i", 6379)], "plain": False}),
]

BAD = [
    "", "h", "redis", "redis:", "redis:/h", "http://h", "REDIS://h", "redis://", "redis:///1", "redis://h:65536",
    "redis://h:0", "redis://h:-1", "redis://h:x", "redis://h:\u0663", "redis://h/x", "redis://h/-1", "redis://h/1/2",
    "redis://h/99999999", "redis://h,i", "redis://h#1", "redis://h i", "redis://h\n", "redis://[::1", "redis://[h]:1",
    "redis://[::1]7", "redis://h:1:2", "redis://h?db=", "redis://h?db=x", "redis://h?timeout=3",
    "unix://a", "unix://", "unix:///a%00b", "unix:///a@b", "redis+sentinel://h", "redis+sentinel://h/",
    "redis+sentinel://h/m/2", "redis+sentinel:///m", "redis+cluster://h/1", "redis+cluster://h?db=1",
    "redis+cluster://h,",
]  # fmt: skip


@pytest.mark.parametrize(("url", "parts"), GOOD, ids=[url for url, _ in GOOD])
def test_forms(url: str, parts: dict[str, Any]) -> None:
    """Each form means exactly this server, database, user and password."""
    address = Address(url)
    assert {name: getattr(address, name) for name in parts} == parts


@pytest.mark.parametrize("url", BAD)
def test_bad_forms(url: str) -> None:
    """Anything else is one ConfigError of one line, which shows what was found and the forms that there are."""
    with pytest.raises(ConfigError) as caught:
        Address(url)
    text = str(caught.value)
    assert text.startswith("not a server URL: ")
    assert "redis+sentinel://host:port" in text
    assert text.isprintable()


@pytest.mark.parametrize(
    "url",
    [
        "redis://user:secret@h", "redis://secret@h", "redis://:secret@h:1/2", "rediss://user:secret@h",
        "unix://user:secret@/a", "redis+sentinel://u:secret@h:1,i:2/m", "redis+cluster://u:secret@h:1,i:2",
        "redis://u:se@secret@h", "redis://u:secret?x@h", "redis://u:secret/x@h", "redis://u:secret@h:99999",
        "redis:u:secret@h", "u:secret@h", "http://u:secret@h", "redis://h?password=secret", "redis://u:secret@h?x=secret",
        "redis://u:secret\n@h", "://u:secret@h",
    ],
)  # fmt: skip
def test_no_password_is_shown(url: str) -> None:
    """Neither the URL as it is shown nor the error about a bad one holds the password."""
    assert "secret" not in hide_password(url)
    try:
        assert "secret" not in Address(url).shown
    except ConfigError as error:
        assert "secret" not in str(error)


def test_what_is_shown_names_the_place() -> None:
    """What is shown is the URL with the user and password left out."""
    assert hide_password("redis://u:p@h:1/2?db=3") == "redis://h:1/2?db=3"
    assert hide_password("unix:///a") == "unix:///a"
    assert hide_password("unix:///a\n\x1b\udcff") == "unix:///a???"
