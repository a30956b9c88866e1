"""The cap holds, whoever asks and in whatever way."""

from __future__ import annotations

from tests.cli.place import most_at_once
from tests.host.script import HELD, at, marked, say, spawn, text
from tests.host.world import World


def test_two_sessions_with_five_agents_share_two_slots(world: World) -> None:
    """Never do more than two run, by the board's events and by the marks that the agents themselves write; those that were
    refused are started by their sessions as slots are held for them, until all five have run."""
    a, b = world.two()
    again = {HELD: [[spawn(marked("A2")), text("the last one runs")]]}
    first = spawn(marked("A0", "go"), marked("A1", "go"))
    a.prompt(say("go", first, at("A2", spawn(marked("A2"))), text("I wait"), when=again))
    world.model.until_at("go", 2)
    world.model.open("A2")
    world.board.until(lambda: world.board.line() == ["A"], "A stands in line")
    again = {HELD: [[spawn(marked("B0")), at("B1", spawn(marked("B1"))), text("I wait")], [spawn(marked("B1"))]]}
    b.prompt(say("go", spawn(marked("B0")), text("I wait"), when=again))
    world.board.until(lambda: world.board.line() == ["A", "B"], "B stands in line behind A")
    world.model.open("go")
    world.board.until(lambda: "+ B0" in world.place.lines("marks"), "B's first agent runs")
    world.model.open("B1")
    names = ["A0", "A1", "A2", "B0", "B1"]
    world.board.until(lambda: len(world.place.lines("marks")) == 10, "all five have run")
    marks = world.place.lines("marks")
    assert sorted(marks) == sorted([f"{sign} {name}" for sign in "+-" for name in names])
    assert most_at_once(marks) == 2
    assert world.board.most_at_once() == 2
    world.board.until_empty()
    assert world.board.line() == []
    assert a.complaints() + b.complaints() == ""
