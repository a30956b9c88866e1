"""Sessions of one project see each other."""

from __future__ import annotations

import subprocess

from coord.server import pids
from tests.host.board import SOON_S
from tests.host.script import HELD, marked, say, spawn, text, tool
from tests.host.world import World
from tests.waiting import until


def test_two_worktrees_share_one_board(world: World) -> None:
    """The first session starts the server and is A; the one in the other worktree is B and is told of A. Footer, `/coord`
    and the tool of the agents show both the same board. When an agent of A pauses it, B's spawns are refused with the
    reason, until B's user lifts it: then the place in line becomes a hold, and the agent starts."""
    other = f"{world.den.folder}/other"
    _git(world.project, "init", "--quiet", "--initial-branch=main")
    _git(world.project, "add", ".omp-coord.json")
    _git(world.project, "commit", "--quiet", "--message=start")
    _git(world.project, "worktree", "add", "--quiet", other)
    assert pids.read(world.den.home) == {}

    a = world.session()
    assert world.den.server_pid()
    alone = f"session A of {world.place.scope}; no other session"
    until(lambda: alone in "".join(a.notices("info")), "A is told that it is alone")
    b = world.session("B", cwd=other)
    others = f"session B of {world.place.scope}; others: A in {world.project}"
    until(lambda: others in "".join(b.notices("info")), "B is told of A")

    a.prompt(say("go", spawn(marked("A0", "go")), text("it runs")))
    world.board.until_running("A0")
    until(lambda: (a.footer, b.footer) == ("coord A · work 1/2", "coord B · work 1/2"), "both footers show it")
    shown = a.slash("/coord")
    assert shown.startswith("This is session A;")
    assert world.project in shown
    assert other in shown
    assert "A0" in a.slash("/coord agents")
    b.run(say("look", tool("coord_status"), text("I see")))
    seen = world.model.asked[-1].all
    assert "This is session B" in seen
    assert world.project in seen
    world.model.open("go")
    until(lambda: b.footer == "coord B · work 0/2", "B's footer shows that it has ended")

    a.run(say("stop", tool("coord_pause", reason="the disk is full"), text("paused")))
    until(lambda: "paused" in b.footer, "B's footer says that it is paused")
    b.run(say("go", spawn(marked("B0")), text("I wait"), when={HELD: [[spawn(marked("B0"))]]}))
    assert "all work of this project is paused by session A: the disk is full" in world.model.asked[-1].all
    assert "Resumed" in b.slash("/coord resume")
    world.board.until(lambda: len(world.board.events("run_ended")) == 2, "B's agent has run as well")
    with open(f"{other}/marks", encoding="utf-8") as marks:
        assert marks.read() == "+ B0\n- B0\n"
    until(lambda: "paused" not in a.footer, "A's footer says so no more")
    a.quit()
    world.board.until_sessions("B", within=SOON_S)


def _git(folder: str, *words: str) -> None:
    who = ("-c", "user.name=t", "-c", "user.email=t@localhost")
    subprocess.run(["git", "-C", folder, *who, *words], check=True)
