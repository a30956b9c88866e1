"""lua/agent_started.lua: an agent's run began."""

from __future__ import annotations

from tests.lua.table import Row, table
from tests.lua.test_spawn_request import FULL, NESTED, ONE, ST, T_HELD, T_WAITS
from tests.lua.world import World, do

APPROVED = [do.join("s"), do.spawn("s", "s1", key="X")]
TWO = [do.pools("w", work=5), do.join("s"), do.spawn("s", "s1"), do.step(5), do.spawn("s", "s2")]


@table(
    Row("an approved spawn that starts runs, and has until its end",
        given=[*APPROVED, do.step(100)], call=do.started("s", "X"), verdict="started",
        fields={"overBy": "0", "pool": "work", "allowance": "2", "why": ""}, slots="s1:running", due={},
        slot={"s1": {"agent": "X", "since": 1_800_000_000_100, "unqueued": None, "pool": "work"}}, used={"work": 1},
        events="run_started", said={"run_started": {"slot": "s1", "agentId": "X", "revived": ""}}),
    Row("it is matched by its id, whatever is older",
        given=[do.join("s"), do.spawn("s", "s1"), do.step(5), do.spawn("s", "s2", key="X")], call=do.started("s", "X"),
        verdict="started", slots="s1:starting s2:running"),
    Row("else by parent and type, oldest first",
        given=TWO, call=do.started("s", "X"), verdict="started", slots="s1:running s2:starting",
        slot={"s1": {"agent": "X"}}),
    Row("the next start is the next oldest's",
        given=[*TWO, do.started("s", "X")], call=do.started("s", "Y"), verdict="started",
        slots="s1:running s2:running", slot={"s2": {"agent": "Y"}}),
    Row("a name from before it was made unique is as good as none: parent and type tell",
        given=[do.join("s"), do.spawn("s", "s1", key="call-7:0")], call=do.started("s", "X-2"), verdict="started",
        slots="s1:running", slot={"s1": {"agent": "X-2"}}),
    Row("another type is another spawn",
        given=[*TWO, do.spawn("s", "s3", type="scout")], call=do.started("s", "X", type="scout"), verdict="started",
        slots="s1:starting s2:starting s3:running"),
    Row("another parent is another spawn",
        given=[NESTED, do.join("s"), do.spawn("s", "s1", type="scout"),
               do.spawn("s", "s2", type="scout", parent="X")],
        call=do.started("s", "P", type="scout", parent="X"), verdict="started", slots="s1:starting s2:running"),
    Row("another session's is another spawn",
        given=[*ST, do.spawn("s", "s1")], call=do.started("t", "X"), verdict="started",
        slots="s1:starting new-X:running"),
    Row("types are compared lower-cased",
        given=[do.join("s"), do.spawn("s", "s1", type="Task")], call=do.started("s", "X"), verdict="started",
        slots="s1:running"),
    Row("the mark of eval stays",
        given=[do.join("s"), do.spawn("s", "s1", key="X", invocation="eval")], call=do.started("s", "X"),
        verdict="started", fields={"allowance": "", "why": "eval"}, slot={"s1": {"unqueued": "eval"}}),
    Row("a start of what runs already changes nothing",
        given=[*APPROVED, do.started("s", "X"), do.step(5)], call=do.started("s", "X"), verdict="started",
        fields={"overBy": "0"}, same=True),
    Row("also when others of its kind are still to start",
        given=[*TWO, do.started("s", "X")], call=do.started("s", "X"), verdict="started", events="",
        slots="s1:running s2:starting"),
    Row("a start within 500 ms of its end goes on in the slot that it had",
        given=[*APPROVED, do.started("s", "X"), do.stopped("s", "X"), do.step(499)], call=do.started("s", "X"),
        verdict="started", slots="s1:running", due={}, events="run_started", said={"run_started": {"revived": ""}},
        slot={"s1": {"since": 1_800_000_000_000, "unqueued": None}}),
    Row("later it is a start without approval",
        given=[*APPROVED, do.started("s", "X"), do.stopped("s", "X"), do.step(500)], call=do.started("s", "X"),
        verdict="started", slots="new-X:running", events="run_ended run_started",
        said={"run_started": {"revived": "1"}}, slot={"new X": {"unqueued": "revived"}}),
    Row("a spawn that was approved under the id of one that is ending is not its start",
        given=[*APPROVED, do.started("s", "X"), do.stopped("s", "X"), do.spawn("s", "s2", key="X")],
        call=do.started("s", "X"), verdict="started", slots="s1:running s2:starting"),
    Row("a session that the board does not know has to join",
        given=APPROVED, call=do.started("z", "X"), verdict="unknown", same=True),
    Row("a board made by a newer omp-coord is left alone",
        given=[*APPROVED, do.seed("HSET", "META", "schema", "2")], call=do.started("s", "X"),
        verdict="newerSchema", fields={"schema": "2"}, same=True),
)  # fmt: skip
def test_verdicts(world: World, row: Row) -> None:
    """A start is matched with the spawn it was approved by; what runs already or flickers changes nothing."""
    row.play(world)


@table(
    Row("it is counted all the same",
        given=[do.join("s")], call=do.started("s", "X"), verdict="started", fields={"overBy": "0", "pool": "work"},
        slots="new-X:running", used={"work": 1}, due={}, said={"run_started": {"revived": "1", "pool": "work"}},
        slot={"new X": {"session": "s", "agent": "X", "parent": "Main", "kind": "main", "type": "task",
                        "pool": "work", "unqueued": "revived"}}),
    Row("one that was once asked for as eval is eval",
        given=[do.join("s")], call=do.started("s", "X", unqueued="eval"), verdict="started",
        slot={"new X": {"unqueued": "eval"}}),
    Row("over the cap it is counted, and by how many it is over is told",
        given=FULL, call=do.started("t", "Z"), verdict="started", fields={"overBy": "1"}, used={"work": 3}),
    Row("the next is one more over",
        given=[*FULL, do.started("t", "Z")], call=do.started("t", "V"), verdict="started", fields={"overBy": "2"}),
    Row("a start again is no news about the cap",
        given=[*FULL, do.started("t", "Z")], call=do.started("t", "Z"), verdict="started", fields={"overBy": "0"}),
    Row("an approved start is no news about the cap",
        given=[*ST, do.spawn("s", "s1", key="X"), do.started("t", "Y"), do.started("t", "Z")],
        call=do.started("s", "X"), verdict="started", fields={"overBy": "0"}, used={"work": 3}),
    Row("a clone of /tan is of type sub, started by Main, and counts like any other type",
        given=[ONE, do.join("s")], call=do.started("s", "X", type="sub"), verdict="started",
        fields={"pool": "work"}, used={"work": 1}),
    Row("of an exempt type it counts against no pool",
        given=[do.pools("w", work=1, exempt=("scout",)), do.join("s")], call=do.started("s", "X", type="scout"),
        verdict="started", fields={"overBy": "0", "pool": ""}, used={"work": 0}),
    Row("one that a subagent started counts against no pool",
        given=[do.join("s")], call=do.started("s", "P", parent="X"), verdict="started", fields={"pool": ""},
        slot={"new P": {"kind": "sub", "parent": "X", "pool": None}}),
    Row("while paused it is counted as well",
        given=[do.join("s"), do.pause()], call=do.started("s", "X"), verdict="started", used={"work": 1},
        fields={"why": "paused"}),
    Row("while the board settles it is counted as well",
        given=[do.unknown_before(), do.join("s")], call=do.started("s", "X"), verdict="started", used={"work": 1}),
    Row("it takes the slot that was kept for another: that one is told and keeps its place",
        given=[*T_HELD, do.listen("t")], call=do.started("s", "Z"), verdict="started", holds={"work": ""},
        lines={"work": "t"}, events="run_started hold_withdrawn", heard={"t": "withdrawn work"}),
    Row("with room beside the hold that stays",
        given=[do.pools("w", work=3), *ST, do.runs("s", "X", "Y", "V"), do.spawn("t", "t1"), do.ends("s", "X", "Y")],
        call=do.started("s", "Z"), verdict="started", holds={"work": "t"}, events="run_started"),
    Row("it uses up neither hold nor ticket of its own session",
        given=T_WAITS, call=do.started("t", "Z"), verdict="started", lines={"work": "t"}),
    Row("until the pool is under its cap again nothing is approved and nobody served",
        given=[*T_WAITS, do.started("t", "Z"), do.ends("s", "X")], call=do.spawn("s", "s9"), verdict="refused",
        fields={"cause": "full", "used": "2"}, holds={"work": ""}),
    Row("then the line is served",
        given=[*T_WAITS, do.started("t", "Z"), do.ends("s", "X"), do.ends("t", "Z")], call=do.live("t"),
        verdict="alive", holds={"work": "t"}, used={"work": 1}),
)  # fmt: skip
def test_without_approval(world: World, row: Row) -> None:
    """What starts without approval is counted, never stopped, and told when it is over the cap."""
    row.play(world)
