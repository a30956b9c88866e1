"""lua/board_pause.lua: no new agents and no new grants."""

from __future__ import annotations

from tests.lua.table import Row, table
from tests.lua.test_spawn_request import FULL, ONE, T_HELD, T_WAITS
from tests.lua.world import World, do

JOBS = [do.running("a"), do.waiting("b")]


def pause(**fields: str) -> object:
    """What the pause is on the board."""
    return lambda _, after: after.pause == fields


AT = "1800000000000"


@table(
    Row("who paused and why is told",
        given=[do.join("s")], call=do.pause("s", label="A", reason="lunch"), verdict="paused",
        check=pause(by="s", label="A", reason="lunch", since=AT), events="paused"),
    Row("without a session and a reason there is neither",
        given=[do.join("s")], call=do.pause("ann"), verdict="paused", check=pause(by="ann", since=AT)),
    Row("paused again the reason is replaced, and since when stays",
        given=[do.join("s"), do.pause("s", label="A", reason="lunch"), do.step(1000)],
        call=do.pause("ann", reason="tea"), verdict="paused", check=pause(by="ann", reason="tea", since=AT)),
    Row("what runs, runs on",
        given=[*FULL, do.running("a")], call=do.pause(), verdict="paused", slots="s-X:running s-Y:running", seats="a"),
    Row("it makes a board where there is none",
        call=do.pause(), verdict="paused", events="board_made paused"),
    Row("it outlives its author",
        given=[do.join("s"), do.join("t"), do.pause("s", label="A"), do.leave("s")], call=do.spawn("t", "t1"),
        verdict="refused", fields={"cause": "paused"}),
    Row("a joining session is told of it",
        given=[do.pause("ann", reason="tea")], call=do.join("s"), verdict="joined",
        fields={"paused": lambda said: '"by":"ann"' in said and '"reason":"tea"' in said and AT in said}),
    Row("a board made by a newer omp-coord is left alone",
        given=[do.join("s"), do.seed("HSET", "META", "schema", "2")], call=do.pause(), verdict="newerSchema",
        fields={"schema": "2"}, same=True),
)  # fmt: skip
def test_verdicts(world: World, row: Row) -> None:
    """A pause says who, why and since when; it stops nothing that runs."""
    row.play(world)


SHORT = do.pools("w", work=2, hold_ms=8000)


@table(
    Row("holds have no deadline any more but stay",
        given=[*T_HELD, do.step(1000)], call=do.pause(), verdict="paused", holds={"work": "t"}, due={},
        check=lambda _, after: after.pause["hold|work|t"] == "299000"),
    Row("however long it is no hold lapses",
        given=[SHORT, *T_HELD, do.pause(), do.lived(20, "s", "t")], call=do.spawn("s", "s9"), verdict="refused",
        fields={"cause": "paused"}, holds={"work": "t"}),
    Row("paused again they keep what they had left",
        given=[*T_HELD, do.step(1000), do.pause(), do.lived(4, "s", "t")], call=do.pause(), verdict="paused",
        check=lambda _, after: after.pause["hold|work|t"] == "299000"),
    Row("a hold that had lapsed before is none any more",
        given=[SHORT, *T_HELD, do.lived(6, "s", "t"), do.step(2000)], call=do.pause(), verdict="paused",
        holds={"work": ""}, lines={"work": ""}, events="hold_lapsed paused"),
    Row("a slot that gets free is kept for nobody yet",
        given=[*T_WAITS, do.pause(), do.ends("s", "X")], call=do.live("t"), verdict="alive", holds={"work": ""},
        lines={"work": "t"}, used={"work": 1}),
    Row("a raised cap serves nobody yet",
        given=[do.pools("more", work=3), *T_WAITS, do.pause(), do.live("s", policy="more")],
        call=do.live("t", policy="more"), verdict="alive", holds={"work": ""}, lines={"work": "t"},
        pools={"work": {"effective": 3}}),
    Row("a session that leaves takes its hold with it",
        given=[*T_HELD, do.pause()], call=do.leave("t"), verdict="left", gone="t", holds={"work": ""}),
    Row("who paused while settling pauses all the same",
        given=[do.unknown_before(), ONE, do.join("s"), do.spawn("s", "s1"), do.pause(), do.step(3000)],
        call=do.live("s"), verdict="alive", holds={"work": ""}, lines={"work": "s"}),
)  # fmt: skip
def test_holds_and_lines(world: World, row: Row) -> None:
    """While the scope is paused holds do not age and nobody is served."""
    row.play(world)


@table(
    Row("a job that comes waits beside a free slot",
        given=[do.pause()], call=do.enqueue("a"), verdict="waiting", fields={"cause": "paused", "place": 1},
        seats="", line="a"),
    Row("one that does not want to wait is told that none is to be had",
        given=[do.pause()], call=do.enqueue("a", wait=False), verdict="busy", seats="", line=""),
    Row("a slot that gets free is granted to nobody",
        given=[*JOBS, do.pause()], call=do.finish("a"), verdict="released", seats="", line="b",
        states={"b": "waiting"}),
    Row("who asks is told why it waits",
        given=[*JOBS, do.pause(), do.finish("a")], call=do.ask("b"), verdict="waiting",
        fields={"cause": "paused"}, seats=""),
    Row("a job that runs runs on",
        given=[*JOBS, do.pause()], call=do.beat("a"), verdict="running", seats="a"),
    Row("a grant from before may be confirmed",
        given=[*JOBS, do.finish("a"), do.pause()], call=do.start("b"), verdict="started", seats="b"),
    Row("a job inside a running one takes no slot and runs",
        given=[do.running("a"), do.pause()], call=do.enqueue("b", parent="a"), verdict="nested", seats="a"),
    Row("a sweep grants nothing",
        given=[*JOBS, do.pause(), do.finish("a")], call=do.sweep(), verdict="swept", seats="", line="b"),
)  # fmt: skip
def test_jobs(world: World, row: Row) -> None:
    """While the scope is paused no job is granted a slot."""
    row.play(world)
