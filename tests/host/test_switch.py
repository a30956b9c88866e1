"""Another conversation in the same omp, in the middle of a turn."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

from tests.boards import unique_scope
from tests.host.board import SOON_S
from tests.host.omp import Omp
from tests.host.script import at, marked, say, spawn, text
from tests.host.world import World
from tests.waiting import until


def test_another_session_in_the_middle_of_a_turn(world: World) -> None:
    """A new one, a branch of one, and an earlier one: each time the old session leaves the board and the new one is there.
    omp lets agents run on only when it goes to an earlier one; they count in the session that has them now."""
    a = world.session()
    first = a.call("get_state")["sessionFile"]
    _switched(world, a, "new", lambda: a.call("new_session"))
    world.board.until_empty()
    _switched(world, a, "branch", lambda: a.call("branch", entryId=_last_prompt(a)))
    world.board.until_empty()
    _switched(world, a, "switch", lambda: a.call("switch_session", sessionPath=first))
    world.board.until_running("switch", within=SOON_S)
    assert world.board.used() == 1
    world.model.open("switch")
    world.board.until_empty(within=60)
    a.run(say("go", spawn(marked("last")), text("it runs")))
    assert [mark for mark in world.place.lines("marks") if mark[0] == "-"] == ["- switch", "- last"]
    until(lambda: a.footer == "coord A · work 0/2", "the footer is the new session's")
    assert len(world.bridges()) == 1
    assert a.notices("warning") + a.notices("error") == []


def _switched(world: World, a: Omp, reason: str, switch: Callable[[], Any]) -> None:
    """Switches while an agent runs and its parent is in the middle of a turn."""
    a.settled()  # a prompt in the middle of a turn that ends would go into that turn
    old = world.board.sessions()["A"]["id"]
    a.prompt(say("go", spawn(marked(reason, reason)), at(f"{reason}-main", text("it runs"))))
    world.board.until_running(reason)
    world.model.until_at(f"{reason}-main")
    assert switch()["cancelled"] is False
    world.board.until(lambda: _there(world) not in (None, old), "another session is there", SOON_S)
    left = world.board.events("session_left")[-1]
    assert (left["session"], left["reason"], left["agents"]) == (old, reason, "[]")
    assert world.board.sessions()["A"]["hostSession"] == a.call("get_state")["sessionId"]
    world.model.open(f"{reason}-main")


def _there(world: World) -> Any:
    """The id of the one session that is there, None when it is not one."""
    ids = [one["id"] for one in world.board.sessions().values()]
    return ids[0] if len(ids) == 1 else None


def _last_prompt(omp: Omp) -> str:
    """The entry of the last thing the user said."""
    return str(omp.call("get_branch_messages")["messages"][-1]["entryId"])


def test_the_session_goes_to_another_folder(world: World) -> None:
    """`/move`, of which omp tells nobody: at the next turn the session is on the other folder's board, with what runs."""
    folder, scope = world.place.path("other"), unique_scope()
    os.mkdir(folder)
    world.place.write("other/.omp-coord.json", json.dumps({"scope": scope, "agents": {"pools": {"work": {"cap": 3}}}}))
    a = world.session()
    a.prompt(say("go", spawn(marked("W0", "go")), text("it runs")))
    world.board.until_running("W0")
    until(lambda: not a.call("get_state")["isStreaming"], "the turn has ended")
    a.slash(f"/move {folder}")
    a.prompt(say("more", spawn(marked("W1", "go")), text("two run")))
    until(lambda: a.footer == "coord A · work 2/3", "both count on the other board", 60)
    world.board.until_sessions(within=SOON_S)
    world.model.open("go")
    until(lambda: a.footer == "coord A · work 0/3", "both have ended", 60)
