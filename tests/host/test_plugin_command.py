"""`omp-coord plugin` with the real omp: linked, seen, used, and taken out again."""

from __future__ import annotations

import json
import os
import subprocess

import pytest

from tests.host.omp import PLUGIN
from tests.host.test_install import works
from tests.host.world import World


@pytest.fixture
def world(world: World) -> World:
    """The machine, with `omp` and `bun` on PATH as a user has them."""
    path = f"{world.den.folder}/bin/omp"
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'#!/bin/sh\nexec {" ".join(world.host.command)} "$@"\n')
    os.chmod(path, 0o755)
    world.env["PATH"] += f":{os.path.dirname(world.host.bun)}"
    return world


def plugin(world: World, *words: str, code: int = 0) -> str:
    """What `omp-coord plugin WORDS` prints."""
    ended = subprocess.run(
        [world.den.command, "plugin", *words], cwd=world.project, env=world.env, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert ended.returncode == code, (ended.stdout, ended.stderr)
    return ended.stdout + ended.stderr


def test_linked_by_the_command(world: World) -> None:
    """One line links it, sessions have the plugin and its skill, and one line takes it out."""
    assert json.loads(plugin(world, "status", "--json"))["installed"] == []
    assert f"omp plugin link {PLUGIN}" in plugin(world, "install")
    status = json.loads(plugin(world, "status", "--json"))
    (found,) = status["installed"]
    assert (found["how"], found["path"], found["enabled"], status["agree"]) == ("link", PLUGIN, True, True)
    works(world)
    known = world.session(plugin=False).call("get_available_commands")["commands"]
    assert "skill:omp-coord" in [one["name"] for one in known]
    plugin(world, "uninstall")
    assert "does not have the plugin" in plugin(world, "uninstall")
    assert os.path.isfile(f"{PLUGIN}/package.json")


def test_installed_from_the_marketplace(world: World) -> None:
    """The command does not link it a second time, and takes it out."""
    world.omp("plugin", "marketplace", "add", os.path.dirname(PLUGIN))
    world.omp("plugin", "install", "omp-coord@omp-coord")
    assert "omp plugin upgrade omp-coord@omp-coord" in plugin(world, "install", code=1)
    assert "(marketplace)" in plugin(world, "status")
    plugin(world, "uninstall")
    assert json.loads(plugin(world, "status", "--json"))["installed"] == []
