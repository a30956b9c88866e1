"""Who is refused stands in line, and gets its turn."""

from __future__ import annotations

from tests.host.script import HELD, marked, say, spawn, text
from tests.host.world import World


def test_a_refused_session_is_woken_when_a_slot_is_free(world: World) -> None:
    """The model that asked is told who has the slots, its place, and not to retry; its user sees one warning. When a slot
    frees it is held, and the idle session starts its agent without anybody typing a word."""
    world.config(cap=1)
    a, b = world.two()
    a.prompt(say("go", spawn(marked("A0", "go")), text("one runs")))
    world.board.until_running("A0")
    b.prompt(say("go", spawn(marked("B0")), text("I wait"), when={HELD: [[spawn(marked("B0")), text("it runs")]]}))
    told = world.model.said_to("", "nothing was started").all
    assert "omp-coord: nothing was started: the pool work is full, 1/1 used (by session: A 1)." in told
    assert "This session is number 1 in line; the next free slot is held for it for 5 minutes" in told
    assert "Do not retry in a loop" in told
    b.settled()
    assert [text for text in b.notices("warning") if "refused: task for Main" in text] == b.notices("warning")
    assert world.board.line() == ["B"]
    world.board.until(lambda: "line work #1" in b.footer, "B's footer shows its place")

    world.model.open("go")
    world.board.until(lambda: world.place.lines("marks")[-1:] == ["- B0"], "B's agent has run")
    kinds = [one["type"] for one in world.board.events("line_joined", "hold_given", "hold_used", "hold_lapsed")]
    assert kinds == ["line_joined", "hold_given", "hold_used"]
    assert [text for text in b.notices("info") if HELD in text] != []
    assert a.notices("warning") == []


def test_a_hold_that_nobody_uses_goes_to_the_next(world: World) -> None:
    """B is first in line and does nothing with its hold: it lapses, and A, who was behind, is told and starts."""
    world.config(cap=1, holdMinutes=0.2)  # as long as A may take to be woken and to ask
    a, b = world.two()
    a.prompt(say("go", spawn(marked("A0", "go")), text("one runs")))
    world.board.until_running("A0")
    b.run(say("go", spawn(marked("B0")), text("I wait"), when={HELD: [[text("I do not need it any more")]]}))
    a.prompt(say("more", spawn(marked("A1")), text("I wait"), when={HELD: [[spawn(marked("A1")), text("it runs")]]}))
    world.board.until(lambda: world.board.line() == ["B", "A"], "B stands in line before A")
    world.model.open("go")
    world.board.until(lambda: "- A1" in world.place.lines("marks"), "A's second agent has run")
    holds = world.board.events("hold_given", "hold_used", "hold_lapsed")
    assert [one["type"] for one in holds] == ["hold_given", "hold_lapsed", "hold_given", "hold_used"]
    assert [one["label"] for one in holds if one["type"] == "hold_given"] == ["B", "A"]
    assert "+ B0" not in world.place.lines("marks")
    assert world.board.most_at_once() == 1
