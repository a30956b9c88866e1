"""Agents that agents start."""

from __future__ import annotations

from tests.host.script import agent, bash, report, say, spawn, text, wait
from tests.host.world import World


def test_a_worker_may_start_a_reviewer_and_no_worker(world: World) -> None:
    """The refused type is named to the worker with those that it may start, and makes no place in line; the reviewer runs
    although the pool is full, and counts against none."""
    world.config(cap=1)
    a = world.session()
    review = agent("R", bash("echo reviewed >>marks"), report(), type="reviewer")
    work = agent("W", spawn(agent("T", bash("echo worked >>marks"), report())), wait(), spawn(review), wait(), report())
    a.run(say("go", spawn(work), text("it runs")))
    told = world.model.said_to("W", "nothing was started").all
    assert "a subagent may start only: reviewer; not task" in told
    (refused,) = world.board.events("spawn_refused")
    assert (refused["agent"], refused["agentType"], refused["cause"]) == ("W", "task", "nestedType")
    assert world.board.events("line_joined") == []
    assert world.place.lines("marks") == ["reviewed"]
    (ran,) = [one for one in world.board.events("run_started") if one["agentType"] == "reviewer"][:1]
    assert (ran["pool"], ran["parent"]) == ("", "W")
    assert world.board.most_at_once() == 1
    world.board.until_empty()
