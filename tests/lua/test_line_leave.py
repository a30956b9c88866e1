"""lua/line_leave.lua: a session gives back its place or hold."""

from __future__ import annotations

from tests.lua.table import Row, table
from tests.lua.test_spawn_request import T_HELD, T_WAITS
from tests.lua.world import World, do

TWO_LINES = [do.pools("w", work=0, read={"cap": 0, "types": ["scout"]}), do.join("s"), do.join("t"),
             do.spawn("s", "s1"), do.spawn("s", "s2", type="scout"), do.spawn("t", "t1")]  # fmt: skip


@table(
    Row("a place is given back",
        given=T_WAITS, call=do.quit_line("t"), verdict="left", fields={"pools": "work"}, lines={"work": ""},
        events="line_left", said={"line_left": {"session": "t", "held": ""}}),
    Row("a hold is given back, and the next is served at once",
        given=[*T_HELD, do.spawn("s", "s9"), do.listen("s")], call=do.quit_line("t"), verdict="left",
        fields={"pools": "work"}, lines={"work": "s"}, holds={"work": "s"}, events="line_left hold_given",
        said={"line_left": {"held": "1"}}, heard={"s": "hold work 1800000300500 1800000000500000"},
        due={"hold|work|s": 300_000}),
    Row("with nobody behind it the slot is free for anybody",
        given=[*T_HELD, do.quit_line("t")], call=do.spawn("s", "s9"), verdict="approved"),
    Row("of all lines when no pool is named",
        given=TWO_LINES, call=do.quit_line("s"), verdict="left", fields={"pools": "read work"},
        lines={"work": "t", "read": ""}, events="line_left line_left"),
    Row("of one line when a pool is named",
        given=TWO_LINES, call=do.quit_line("s", "read"), verdict="left", fields={"pools": "read"},
        lines={"work": "s t", "read": ""}),
    Row("who stands in no line leaves none",
        given=T_WAITS, call=do.quit_line("s"), verdict="left", fields={"pools": ""}, same=True),
    Row("a pool in whose line it is not is none",
        given=T_WAITS, call=do.quit_line("t", "read"), verdict="left", fields={"pools": ""}, same=True),
    Row("who was refused again stands at the end",
        given=[*T_WAITS, do.join("u"), do.spawn("u", "u1"), do.quit_line("t")], call=do.spawn("t", "t2"),
        verdict="refused", fields={"place": "2"}, lines={"work": "u t"}),
    Row("while paused a hold may be given back; nobody is served yet",
        given=[*T_HELD, do.spawn("s", "s9"), do.pause()], call=do.quit_line("t"), verdict="left",
        lines={"work": "s"}, holds={"work": ""}, events="line_left"),
    Row("the next is served when the pause is over",
        given=[*T_HELD, do.spawn("s", "s9"), do.pause(), do.quit_line("t")], call=do.resume(), verdict="resumed",
        holds={"work": "s"}),
    Row("a session that the board does not know is in no line",
        given=T_WAITS, call=do.quit_line("z"), verdict="unknown", same=True),
    Row("a board made by a newer omp-coord is left alone",
        given=[*T_WAITS, do.seed("HSET", "META", "schema", "2")], call=do.quit_line("t"), verdict="newerSchema",
        fields={"schema": "2"}, same=True),
)  # fmt: skip
def test_verdicts(world: World, row: Row) -> None:
    """A place or hold that is given back goes to the next at once."""
    row.play(world)
