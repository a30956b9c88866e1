"""A session alone: what is over the cap waits in omp's own queue and starts by itself."""

from __future__ import annotations

from tests.cli.place import most_at_once
from tests.host.board import SOON_S
from tests.host.omp import Omp
from tests.host.script import HELD, marked, say, spawn, text
from tests.host.world import World
from tests.waiting import until

FIVE = [f"W{n}" for n in range(5)]
PLACES = "places 32"
"""What omp allows by itself."""


def places(omp: Omp) -> str:
    """How many subagents omp lets run now."""
    return next(line for line in omp.slash("/probe").splitlines() if line.startswith("places"))


def test_five_agents_run_without_one_refusal(world: World) -> None:
    """omp's own number of places is kept at what the pool has; two run, three wait, and each end lets the next one start.
    At the end omp's number is its own again, and none was ever saved."""
    a = world.session(probe=True, PROBE_END=world.place.path("end"))
    until(lambda: places(a) == "places 2", "omp's number is the pool's")  # it is set a little later than the footer
    assert "spawns over the cap wait and start by themselves (2 may run now)" in a.slash("/coord")
    a.prompt(say("go", spawn(*(marked(name, "go") for name in FIVE)), text("they run")))
    world.model.until_at("go", 2)
    world.board.until(lambda: len(world.board.running()) == 2, "two run")
    world.model.open("go")
    a.settled()
    marks = world.place.lines("marks")
    assert sorted(marks) == sorted(f"{sign} {name}" for sign in "+-" for name in FIVE)
    assert (most_at_once(marks), world.board.most_at_once()) == (2, 2)
    assert world.board.events("spawn_refused") == []
    assert a.notices("warning") + a.notices("error") == []
    assert a.quit() == 0
    assert world.place.lines("end") == [PLACES]
    world.board.until_sessions(within=SOON_S)


def test_a_second_session_joins_midway(world: World) -> None:
    """omp's own number is given back. What still waits in omp is asked for when a place frees there, and refused while the
    pool is full; everything runs in the end, never more than two at once."""
    a = world.session(probe=True)
    wanted = {HELD: [[spawn(marked("X")), text("it runs")]]}
    a.prompt(say("go", spawn(*(marked(name, f"go-{name}") for name in FIVE)), text("they run"), when=wanted))
    world.board.until(lambda: len(world.board.running()) == 2, "two of A's agents run")
    first, second = sorted(world.board.running())
    b = world.session("B", probe=True)
    until(lambda: places(a) == PLACES, "omp's own number is back in A")
    assert places(b) == PLACES
    assert "spawns do not wait, those over the cap are refused: other sessions are on the board" in a.slash("/coord")
    world.model.open(f"go-{first}")
    world.board.until(lambda: world.board.events("spawn_refused"), "what waited in omp is refused now")
    world.board.until(lambda: len(world.board.running()) == 2, "one of those that waited has the free slot")
    world.model.open(*(f"go-{name}" for name in FIVE))
    world.board.until(lambda: len(world.place.lines("marks")) >= 8, "A's agents have run")
    a.settled()
    assert most_at_once(world.place.lines("marks")) == 2
    assert world.board.most_at_once() == 2
    assert second in " ".join(world.place.lines("marks"))
    world.board.until_empty(within=60)  # a slot may only now be held for the one that was refused
