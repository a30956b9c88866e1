"""The server that a file names: its variables, and whether it is trusted."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from coord.config.settings import Settings
from coord.config.trust import trust
from coord.errors import ConfigError
from coord.home import Home

Write = Callable[..., Path]
Load = Callable[..., Settings]


def with_url(url: str) -> str:
    return json.dumps({"scope": "demo", "redis": {"url": url}})


LOCAL = [
    "redis://localhost",
    "redis://LOCALHOST:6379/3",
    "redis://127.0.0.1:6379",
    "redis://user:pass@127.8.9.1",
    "redis://[::1]:6379",
    "unix:///run/redis.sock",
    "redis+sentinel://localhost:26379,127.0.0.1:26380/main",
    "redis+cluster://127.0.0.1:7000,[::1]:7001",
]
REMOTE = [
    "redis://example.org",
    "rediss://example.org:6380/0",
    "redis://localhost@example.org",
    "redis://127.0.0.1.example.org",
    "redis://127.0.0.1x",
    "redis://0.0.0.0",
    "redis://10.0.0.1",
    "redis://[::2]:1",
    "redis+sentinel://localhost:1,example.org:1/main",
    "redis+cluster://127.0.0.1:7000,10.1.1.1:7000",
]


@pytest.mark.parametrize("url", LOCAL)
def test_a_server_on_this_machine_needs_no_trust(write: Write, settings: Load, url: str) -> None:
    """Sockets and loopback addresses are used as they are."""
    write(with_url(url))
    loaded = settings()
    assert (loaded.redis_url, loaded.trusted) == (url, True)


@pytest.mark.parametrize("url", REMOTE)
def test_a_server_elsewhere_is_not_trusted_by_itself(write: Write, settings: Load, url: str) -> None:
    """A cloned repository cannot send commands to another machine."""
    write(with_url(url))
    loaded = settings()
    assert (loaded.redis_url, loaded.trusted) == (url, False)


def test_trust_is_for_this_content_of_this_file(
    write: Write, settings: Load, home: Home, folder: Path, validations: list[str]
) -> None:
    """Given after the file was remembered it counts at once; an edit or a copy elsewhere has it not."""
    content = with_url("redis://example.org")
    path = write(content)
    assert not settings().trusted
    trust(home, str(path), hashlib.sha256(content.encode()).hexdigest())
    assert settings().trusted
    assert len(validations) == 1
    write(content + " ")
    assert not settings().trusted
    write(content)
    assert settings().trusted
    (folder / "copy.json").write_text(content)
    assert not settings(named="copy.json").trusted


def test_trust_is_by_the_real_path(write: Write, settings: Load, home: Home, folder: Path) -> None:
    """A link to a trusted file is that file."""
    content = with_url("redis://example.org")
    (folder / "link.json").symlink_to(write(content))
    trust(home, str(folder / "link.json"), hashlib.sha256(content.encode()).hexdigest())
    assert settings().trusted


def test_variables_are_filled_in_at_each_load(
    write: Write, settings: Load, env: dict[str, str], validations: list[str]
) -> None:
    """The environment of now counts, also when the file comes from the cache, and for trust too."""
    write(with_url("redis://u:${PASSWORD}@${HOST_1}:1/0"))
    env.update(PASSWORD="p", HOST_1="localhost")
    assert settings().redis_url == "redis://u:p@localhost:1/0"
    env.update(HOST_1="example.org")
    loaded = settings()
    assert (loaded.redis_url, loaded.trusted) == ("redis://u:p@example.org:1/0", False)
    assert len(validations) == 1


def test_a_missing_variable_is_an_error_that_names_it(write: Write, settings: Load, env: dict[str, str]) -> None:
    """Nothing is guessed for it, and the file's place is said; an empty one is allowed."""
    path = write(with_url("redis://:${PASSWORD}@localhost"))
    with pytest.raises(ConfigError, match=r"redis\.url: the environment has no variable PASSWORD") as caught:
        settings()
    assert str(path) in str(caught.value)
    env["PASSWORD"] = ""
    assert settings().redis_url == "redis://:@localhost"


def test_a_variable_that_makes_no_url_is_an_error(write: Write, settings: Load, env: dict[str, str]) -> None:
    """What the environment adds is looked at like the rest, and its password is not repeated."""
    write(with_url("${URL}"))
    env["URL"] = "http://me:hunter2@h"
    with pytest.raises(ConfigError, match="not a server URL") as caught:
        settings()
    assert "hunter2" not in str(caught.value)
