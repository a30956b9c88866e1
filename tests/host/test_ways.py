"""Every way in which an agent can start counts against the cap (a clone of `/tan` is in `test_terminal`)."""

from __future__ import annotations

import json

from tests.cli.place import most_at_once
from tests.host.script import Step, marked, marks, say, spawn, text, tool
from tests.host.world import World

ITEM_DONE = tool("yield", key="1", data="ok")
"""A worker of a pool says which of its items is done."""


def test_woken_agents_and_those_of_code(world: World) -> None:
    """An agent that has ended and is written to runs again and counts, one that code starts asks and counts, and omp's own
    queue is not driven meanwhile. With both the pool is full for a third one. Workers of a pool of omp's own, of which
    there are more than slots, never run three at once."""
    a = world.session()
    a.run(say("go", spawn(marked("W")), text("it runs")))
    world.board.until_empty()
    again = say("again", *marks("woken", "go"))
    a.prompt(say("wake it", tool("write", path="agent://W", content=again), text("it is awake")))
    world.model.until_at("go")
    world.board.until_running("W")
    assert world.board.events("run_started")[-1]["revived"] == "1"

    a.prompt(say("by code", code(f"await agent({json.dumps(say('do it', *marks('coded', 'go')))}, {{label: 'E'}})")))
    world.model.until_at("go", 2)
    world.board.until_running("E", "W")
    assert "spawns do not wait, those over the cap are refused: eval workers run" in a.slash("/coord")
    a.prompt(say("one more", spawn(marked("X"))))
    world.board.until(lambda: world.board.events("spawn_refused"), "the third one is refused")
    world.model.open("go")
    a.settled()

    items = json.dumps([say("do it", *marks(f"item-{n}")[:2], ITEM_DONE) for n in range(3)])
    a.run(say("a pool", code(f"const p = await workpool({{name: 'p'}}); await p.push(...{items})"), text("they run")))
    world.board.until(lambda: len(_done(world)) >= 2, "its items are done, but for one whose worker may be refused")
    a.settled()
    assert most_at_once(world.place.lines("marks")) == 2
    assert world.board.most_at_once() == 2


def code(script: str) -> Step:
    return tool("eval", language="js", code=script)


def _done(world: World) -> list[str]:
    return [line for line in world.place.lines("marks") if line.startswith("- item")]
