"""From a folder to settings, by way of the cache."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from coord.config import cache
from coord.config.load import load, read_config
from coord.config.settings import Settings
from coord.errors import ConfigError
from coord.home import Home

FILE = """{
  "scope": "demo", // the name
  "queues": {
    "build": { "slots": 1, "timeLimit": "10m", "leftovers": "kill", "lanes": { "quick": { "priority": 5 } } },
    "lint": { "slots": 2, "order": "fair-share" },
  },
  "leaseSeconds": 4,
}"""

Write = Callable[..., Path]
Load = Callable[..., Settings]


def test_settings_of_a_file(write: Write, settings: Load) -> None:
    """A file's queues, lanes, limits and lease arrive as a run needs them, the first and every other time."""
    path = write(FILE)
    for _ in range(2):
        loaded = settings()
        assert (loaded.path, loaded.scope, loaded.lease_ms) == (str(path), "demo", 4000)
        assert (loaded.redis_url, loaded.trusted, loaded.warnings, loaded.hint) == (None, True, [], None)
        build, lint = loaded.queues["build"], loaded.queues["lint"]
        assert (build.name, build.slots, build.order, build.time_limit_ms) == ("build", 1, "fifo", 600_000)
        assert (build.leftovers, build.lanes) == ("kill", {"quick": (5, 0, None)})
        assert (lint.slots, lint.order, lint.time_limit_ms, lint.lanes) == (2, "fair-share", None, {})
        assert json.loads(loaded.policy_json)["source"] == str(path)


def test_an_unchanged_file_is_validated_once(write: Write, settings: Load, validations: list[str]) -> None:
    """A second load comes from the cache."""
    write(FILE)
    assert settings().policy == settings().policy
    assert len(validations) == 1


def test_every_edit_is_noticed(write: Write, settings: Load, validations: list[str]) -> None:
    """Another size, another time, another inode with all else the same: each is read anew."""
    path = write(FILE)
    settings()
    write(FILE.replace('"lint": { "slots": 2', '"lint": { "slots": 17'))
    assert settings().queues["lint"].slots == 17
    write(FILE.replace('"lint": { "slots": 2', '"lint": { "slots": 18'))
    os.utime(path, (1_700_000_001, 1_700_000_001))
    assert settings().queues["lint"].slots == 18
    other = path.with_name("other")
    other.write_text(FILE.replace('"lint": { "slots": 2', '"lint": { "slots": 19'))
    os.utime(other, (1_700_000_001, 1_700_000_001))
    other.replace(path)
    assert settings().queues["lint"].slots == 19
    assert len(validations) == 4


def test_an_edit_within_one_tick_of_the_clock_is_noticed(
    write: Write, settings: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two edits that leave the same time, size and inode are told apart by the content."""
    path = write(FILE)
    frozen = path.stat()
    monkeypatch.setattr(cache, "_key", lambda status: ("same",))
    assert time.time() - frozen.st_ctime < 2
    assert settings().queues["lint"].slots == 2
    path.write_text(FILE.replace('"lint": { "slots": 2', '"lint": { "slots": 3'))
    assert settings().queues["lint"].slots == 3


def test_an_entry_of_another_version_is_not_used(
    write: Write, settings: Load, validations: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """After an upgrade of the package or of Python the file is validated again."""
    write(FILE)
    settings()
    monkeypatch.setattr(cache, "__version__", "99.0.0")
    settings()
    monkeypatch.setattr(sys, "hexversion", sys.hexversion + 1)
    settings()
    assert len(validations) == 3


@pytest.mark.parametrize("damage", ["empty", "cut", "flip", "other"])
def test_a_damaged_entry_is_a_miss(
    write: Write, settings: Load, home: Home, validations: list[str], damage: str
) -> None:
    """Whatever happened to the cache's file, the settings are right and nothing is raised."""
    write(FILE)
    settings()
    (entry,) = Path(home.cache()).iterdir()
    content = entry.read_bytes()
    entry.write_bytes({"empty": b"", "cut": content[:-7], "flip": content[:-1] + b"\x00", "other": b"x" * 500}[damage])
    assert settings().scope == "demo"
    assert settings().scope == "demo"
    assert len(validations) == 2


def test_an_unusable_cache_costs_only_time(
    write: Write, folder: Path, env: dict[str, str], validations: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a state folder that cannot be written the file is validated each time."""
    write(FILE)
    home = Home.find({"OMP_COORD_HOME": str(folder / "state")})

    def refuse(self: Home) -> str:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Home, "cache", refuse)
    for _ in range(2):
        assert load(str(folder), env, home).scope == "demo"
    assert len(validations) == 2


def test_entries_are_private(write: Write, settings: Load, home: Home) -> None:
    """What is remembered may be read by its user only, and no half-written file is left."""
    write(FILE)
    settings()
    (entry,) = Path(home.cache()).iterdir()
    assert entry.stat().st_mode & 0o777 == 0o600


def test_an_invalid_file_raises_each_time(write: Write, settings: Load) -> None:
    """Errors are not remembered, and carry every finding; after the correction it loads."""
    write('{"scope": "s", "queues": {"q": {"slots": 0}}, "leaseSeconds": 0}')
    for _ in range(2):
        with pytest.raises(ConfigError) as caught:
            settings()
        assert len(str(caught.value).splitlines()) == 2
    write(FILE)
    assert settings().scope == "demo"


def test_a_valid_file_that_becomes_invalid_raises(write: Write, settings: Load) -> None:
    """A remembered good state never hides a broken file."""
    write(FILE)
    settings()
    write("{")
    with pytest.raises(ConfigError):
        settings()


def test_a_file_that_cannot_be_read_is_one_line(write: Write, settings: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    """Permission denied is said with the path."""
    path = str(write(FILE))
    real = os.open

    def refuse(name: str, *rest: int) -> int:
        if name == path:
            raise PermissionError(13, "Permission denied", name)
        return real(name, *rest)

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(ConfigError, match="cannot be read: Permission denied"):
        settings()


def test_a_file_of_any_size_is_read_no_further_than_its_limit(write: Write, settings: Load) -> None:
    """A huge file is refused without being read whole."""
    path = write("{")
    with path.open("r+b") as file:
        file.truncate(1 << 40)
    with pytest.raises(ConfigError, match="larger than 1 MiB"):
        settings()


def test_a_scope_by_name_replaces_the_files(write: Write, settings: Load) -> None:
    """`--scope` names a board from outside its folder; a bad name is refused."""
    write(FILE)
    assert settings(scope="other").scope == "other"
    with pytest.raises(ConfigError, match="scope"):
        settings(scope="a b")


def test_a_named_file_is_loaded(write: Write, settings: Load, folder: Path) -> None:
    """`--config` takes that file instead."""
    write(FILE)
    (folder / "team.json").write_text('{"scope": "team"}')
    assert settings(named="team.json").scope == "team"


def test_passed_over_files_are_warned_of(write: Write, settings: Load) -> None:
    """What `find` says arrives in the settings."""
    write(FILE).chmod(0o666)
    loaded = settings()
    assert loaded.path is None
    assert len(loaded.warnings) == 1


def test_read_config_gives_everything(write: Write) -> None:
    """The whole configuration is there for who needs more than a run does."""
    config, content = read_config(str(write(FILE)))
    assert config.queues["build"].time_limit == "10m"
    assert content == FILE.encode()
