"""lua/agent_ended.lua: an agent's run ended."""

from __future__ import annotations

from tests.lua.table import Row, table
from tests.lua.test_spawn_request import FULL, NEST, ST, T_WAITS
from tests.lua.world import World, do

X = [do.join("s"), do.runs("s", "X")]


@table(
    Row("its slot is ending at once, and still counts",
        given=X, call=do.stopped("s", "X"), verdict="ending", fields={"allowance": "2", "why": ""},
        slots="s-X:ending", used={"work": 1}, due={"end|s-X": 500}, events="run_ending"),
    Row("the same end again changes nothing",
        given=[*X, do.stopped("s", "X"), do.step(100)], call=do.stopped("s", "X"), verdict="ending", same=True),
    Row("an end of what does not run changes nothing",
        given=X, call=do.stopped("s", "Y"), verdict="ending", same=True),
    Row("an end of what has not started changes nothing",
        given=[do.join("s"), do.spawn("s", "s1", key="X")], call=do.stopped("s", "X"), verdict="ending", same=True),
    Row("another session's agent of the same name runs on",
        given=[*ST, do.runs("s", "X"), do.runs("t", "X")], call=do.stopped("t", "X"), verdict="ending",
        slots="s-X:running t-X:ending"),
    Row("after 500 ms the slot is free",
        given=[*X, do.stopped("s", "X"), do.step(500)], call=do.live("s"), verdict="alive", slots="", used={"work": 0},
        events="run_ended", said={"run_ended": {"slot": "s-X", "agentId": "X", "outcome": "ended"}}),
    Row("before that it is not",
        given=[*X, do.stopped("s", "X"), do.step(499)], call=do.live("s"), verdict="alive", slots="s-X:ending"),
    Row("then the first in line gets it",
        given=[*T_WAITS, do.listen("t"), do.stopped("s", "X"), do.step(500)], call=do.live("s", agents="Y"),
        verdict="alive", holds={"work": "t"}, events="run_ended hold_given",
        heard={"t": "hold work 1800000300500 1800000000000001"}),
    Row("within the 500 ms nobody gets it",
        given=T_WAITS, call=do.stopped("s", "X"), verdict="ending", holds={"work": ""}, events="run_ending"),
    Row("the end of a nested agent frees no pool's slot",
        given=[*NEST, do.runs("s", "P", type="scout", parent="X")], call=do.stopped("s", "P"), verdict="ending",
        slots="s-X:running s-P:ending", used={"work": 1}),
    Row("an end that comes after the session was opened anew changes nothing on the new one",
        given=[*X, do.leave("s", "new"), do.join("t")], call=do.stopped("t", "X"), verdict="ending", same=True),
    Row("a session that the board does not know has to join",
        given=FULL, call=do.stopped("z", "X"), verdict="unknown", same=True),
    Row("a board made by a newer omp-coord is left alone",
        given=[*X, do.seed("HSET", "META", "schema", "2")], call=do.stopped("s", "X"), verdict="newerSchema",
        fields={"schema": "2"}, same=True),
)  # fmt: skip
def test_verdicts(world: World, row: Row) -> None:
    """A run that ended counts for 500 ms more, then its slot is free and the line is served."""
    row.play(world)


def test_a_flickering_run_never_frees_its_slot(world: World) -> None:
    """Retries and reminders end a run and start it at once: whoever waits is not served in between."""
    world.pools("w", work=1)
    world.join("s")
    world.join("t")
    world.runs("s", "X")
    world.spawn("t", "t1")
    for _ in range(5):
        world.stopped("s", "X")
        world.step(300)
        world.started("s", "X")
        world.step(300)
        world.live("t")
    assert world.seen().held_by("work") == []
    assert world.seen().slots["s-X"]["state"] == "running"
