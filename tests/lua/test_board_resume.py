"""lua/board_resume.lua: a pause is lifted."""

from __future__ import annotations

from tests.lua.table import Row, table
from tests.lua.test_board_pause import SHORT
from tests.lua.test_spawn_request import T_HELD, T_WAITS
from tests.lua.world import World, do


@table(
    Row("the pause is gone and who lifted it is in the log",
        given=[do.join("s"), do.pause()], call=do.resume("s", label="A"), verdict="resumed", fields={"was": "1"},
        events="resumed", said={"resumed": {"by": "s", "label": "A"}}, check=lambda _, after: after.pause == {}),
    Row("when it is not paused that is fine",
        given=[do.join("s")], call=do.resume(), verdict="resumed", fields={"was": ""}, same=True),
    Row("holds go on ageing where they stopped",
        given=[*T_HELD, do.step(1000), do.pause(), do.lived(20, "s", "t")], call=do.resume(), verdict="resumed",
        holds={"work": "t"}, due={"hold|work|t": 299_000}, events="resumed"),
    Row("then they lapse",
        given=[SHORT, *T_HELD, do.step(1000), do.pause(), do.lived(20, "s", "t"), do.resume(),
               do.lived(6, "s", "t"), do.step(1000)],
        call=do.live("s", agents="Y"), verdict="alive", holds={"work": ""}, lines={"work": ""},
        events="hold_lapsed"),
    Row("a slot that got free meanwhile is kept for the first in line",
        given=[*T_WAITS, do.pause(), do.ends("s", "X")], call=do.resume(), verdict="resumed", holds={"work": "t"},
        events="resumed hold_given"),
    Row("who was refused for the pause is served in ticket order",
        given=[do.join("s"), do.join("t"), do.join("u"), do.pause(), do.spawn("u", "u1"), do.spawn("s", "s1"),
               do.spawn("t", "t1")],
        call=do.resume(), verdict="resumed", holds={"work": "u s"}, lines={"work": "u s t"}),
    Row("a hold for which there is no room any more is taken back",
        given=[*T_HELD, do.pause(), do.started("s", "Z")], call=do.resume(), verdict="resumed", holds={"work": ""},
        lines={"work": "t"}, events="resumed hold_withdrawn"),
    Row("jobs are granted what is free",
        given=[do.running("a"), do.waiting("b", "c"), do.pause(),
               do.finish("a")],
        call=do.resume(), verdict="resumed", seats="b", line="c", events="resumed job_granted"),
    Row("in every queue",
        given=[do.pause(), do.waiting("a"), do.waiting("b", queue="r")], call=do.resume(), verdict="resumed",
        states={"a": "granted", "b": "granted"}),
    Row("a board made by a newer omp-coord is left alone",
        given=[do.pause(), do.seed("HSET", "META", "schema", "2")], call=do.resume(), verdict="newerSchema",
        fields={"schema": "2"}, same=True),
)  # fmt: skip
def test_verdicts(world: World, row: Row) -> None:
    """Resuming serves lines and queues at once, and lets holds age on."""
    row.play(world)
