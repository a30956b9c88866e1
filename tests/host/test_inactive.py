"""A session where omp-coord has nothing to do."""

from __future__ import annotations

import os

from coord.server import pids
from tests.host.board import SOON_S
from tests.host.script import marked, say, spawn, text
from tests.host.world import World
from tests.waiting import until


def test_a_folder_without_a_configuration(world: World) -> None:
    """Nobody is told anything, no server starts, no process of ours stays, agents run uncapped; `/coord` says why. When a
    file has been written there, `/coord` puts the session on the board."""
    os.unlink(world.place.path(".omp-coord.json"))
    a = world.start().ready()
    a.prompt(say("go", spawn(*(marked(f"W{n}", "go") for n in range(3))), text("they run")))
    world.model.until_at("go", 3)
    assert (a.notices(), a.footer, a.complaints()) == ([], "", "")
    assert pids.read(world.den.home) == {}
    assert "no .omp-coord.json in" in a.slash("/coord")
    until(lambda: world.bridges() == [], "no bridge stays")
    world.model.open("go")
    a.settled()
    world.config()
    assert "This is session A" in a.slash("/coord")
    until(lambda: a.footer == "coord A · work 0/2", "the footer shows the board")
    assert a.quit() == 0
    until(lambda: world.bridges() == [], "no bridge is left", SOON_S)


def test_the_command_is_missing(world: World) -> None:
    """One notice says how to install it, and agents run."""
    a = world.start(OMP_COORD_BIN="/nowhere/omp-coord", PATH="/usr/bin:/bin").ready()
    until(a.notices, "the user is told")
    a.run(say("go", spawn(marked("W0")), text("it runs")))
    assert world.place.lines("marks") == ["+ W0", "- W0"]
    (notice,) = a.notices()
    assert "pip install omp-coord" in notice
