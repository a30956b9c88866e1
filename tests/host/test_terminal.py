"""omp as its user sees it, in a terminal."""

from __future__ import annotations

from tests.host.board import SOON_S
from tests.host.script import at, marked, say, spawn, text
from tests.host.world import World
from tests.waiting import until


def test_in_a_terminal(world: World) -> None:
    """The footer shows the board, `/coord` prints it; a `/tan` clone, which nobody is asked about, counts and may take the
    pool over its cap, which is said. `/new` in the middle of the turn frees all, `/quit` leaves the board."""
    world.config(cap=1)
    screen = world.screen(say("go", spawn(marked("W0", "go")), at("main", text("it runs"))))
    world.board.until_running("W0")
    screen.shows("coord A · work 1/1")
    screen.enter("/coord")
    screen.shows("This is session A;")
    screen.shows("Pool")
    screen.enter("/tan hello")
    world.board.until(lambda: world.board.used() == 2, "the clone counts")
    (clone,) = [one for one in world.board.events("run_started") if one["agentId"] != "W0"]
    assert (clone["agentType"], clone["pool"], clone["revived"]) == ("sub", "work", "1")
    screen.shows("the pool work is over its cap by 1")

    old = world.board.sessions()["A"]["id"]
    screen.enter("/new")
    world.board.until(lambda: [one["session"] for one in world.board.events("session_left")] == [old], "it left")
    world.board.until_empty(within=SOON_S)
    world.board.until_sessions("A", within=SOON_S)
    screen.shows("coord A · work 0/1")
    screen.enter("/quit")
    world.board.until_sessions()
    until(lambda: world.bridges() == [], "no bridge is left", SOON_S)
