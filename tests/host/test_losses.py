"""Something dies in the middle: the counts are right again soon, and no event is lost."""

from __future__ import annotations

import os
import signal

from coord.server import pids
from tests.cli.place import most_at_once
from tests.host.board import SOON_S, SYNC_S, replay
from tests.host.script import HELD, marked, say, spawn, text, tool
from tests.host.world import World
from tests.waiting import until


def counted(world: World) -> None:
    """What the events say and what stands on the board are the same."""
    taken = replay(world.board.events(), "work")[1]
    assert len(taken) == world.board.used()


def test_an_agent_is_killed(world: World) -> None:
    """Its slot is free, and the agent beside it is still counted."""
    a = world.session()
    kill = tool("write", path="proc://A0/kill", content="")
    a.prompt(say("go", spawn(marked("A0", "go"), marked("A1", "go")), text("they run")))
    world.board.until_running("A0", "A1")
    a.prompt(say("enough", kill, text("killed")))
    world.model.said_to("", "Cancelled background job A0")
    world.board.until(lambda: world.board.used() == 1, "its slot is free", SOON_S)
    assert world.board.running() == {"A1"}
    counted(world)
    world.model.open("go")
    a.settled()
    world.board.until_empty()
    assert "- A0" not in world.place.lines("marks")


def test_omp_is_killed(world: World) -> None:
    """kill -9 of a session with two agents: its bridge is gone, its slots go to the session that waits."""
    a, b = world.two()
    a.prompt(say("go", spawn(marked("A0", "go"), marked("A1", "go")), text("they run")))
    world.board.until_running("A0", "A1")
    b.run(say("go", spawn(marked("B0")), text("I wait"), when={HELD: [[spawn(marked("B0", "b")), text("it runs")]]}))
    bridge = world.bridge_of("A")
    a.kill()
    world.board.until_sessions("B", within=SOON_S)
    world.board.until(lambda: "A0" not in world.board.slots(), "A's slots are free", SOON_S)
    until(lambda: bridge not in [one.pid for one in world.bridges()], "A's bridge is gone", SOON_S)
    world.board.until(lambda: list(world.board.running()) == ["B0-2"], "B's agent runs")
    (left,) = world.board.events("session_left")
    assert (left["label"], left["agents"].count('"id"')) == ("A", 2)
    counted(world)
    world.model.open("b")
    world.board.until(lambda: "- B0" in world.place.lines("marks"), "B's agent has run")


def test_the_bridge_is_killed(world: World) -> None:
    """It is started again and opens the same session with what runs: nothing is counted twice or forgotten, the user is told
    once, and spawns go on as before."""
    a = world.session()
    a.prompt(say("go", spawn(marked("A0", "go")), text("it runs")))
    world.board.until_running("A0")
    before = world.board.sessions()["A"]
    assert os.getsid(world.bridge_of("A")) == world.bridge_of("A")  # no Ctrl+C in omp's terminal reaches it
    os.kill(world.bridge_of("A"), signal.SIGKILL)
    world.board.until(lambda: world.bridge_of("A") != before["bridge"]["pid"], "there is another bridge", SOON_S)
    assert world.board.sessions()["A"]["id"] == before["id"]
    assert world.board.running() == {"A0"}
    assert len(world.bridges()) == 1
    a.prompt(say("more", spawn(marked("A1", "go"), marked("A2", "go")), text("one more runs")))
    world.model.until_at("go", 2)
    world.board.until(lambda: len(world.board.running()) == 2, "two run")
    world.model.open("go")
    a.settled()
    assert most_at_once(world.place.lines("marks")) == 2
    assert len(world.place.lines("marks")) == 6
    assert world.board.kinds().count("session_reopened") == 1
    assert world.board.most_at_once() == 2
    counted(world)
    assert len(a.notices("error")) <= 1


def test_the_server_is_killed(world: World) -> None:
    """It is started again by whoever needs it; what ran counts again, and the board has lost no event."""
    a = world.session()
    a.prompt(say("go", spawn(marked("A0", "go")), text("it runs")))
    world.board.until_running("A0")
    before, server = world.board.events(), world.den.server_pid()
    os.kill(server, signal.SIGKILL)
    until(lambda: pids.read(world.den.home).get("server", server) != server, "another server runs", SYNC_S)
    world.board.until_running("A0", within=SOON_S)
    assert world.board.events()[: len(before)] == before
    a.prompt(say("more", spawn(marked("A1", "go"), marked("A2", "go")), text("one more runs")))
    world.model.until_at("go", 2)
    world.board.until(lambda: len(world.board.running()) == 2, "two run")
    world.model.open("go")
    a.settled()
    assert most_at_once(world.place.lines("marks")) == 2
    assert world.board.most_at_once() == 2
    counted(world)
    world.board.until_empty()
