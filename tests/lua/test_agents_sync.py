"""lua/agents_sync.lua: what really runs in a session."""

from __future__ import annotations

import json

from tests.lua.table import Row, table
from tests.lua.test_spawn_request import FULL, ONE, ST, T_WAITS
from tests.lua.world import World, do


def began(*runs: tuple[str, str, int, str]) -> object:
    """Those whose run began by a list: id, pool, by how many that is over its cap, mark."""
    names = ("id", "pool", "overBy", "unqueued")
    return lambda told: json.loads(told) == [dict(zip(names, run, strict=True)) for run in runs]


XY = [do.join("s"), do.runs("s", "X", "Y")]


@table(
    Row("what the board knows is no news",
        given=XY, call=do.sync("s", "X Y"), verdict="synced", fields={"allowance": "2", "why": "", "started": "[]"},
        same=True),
    Row("who is absent once may be back",
        given=XY, call=do.sync("s", "X"), verdict="synced", slots="s-X:running s-Y:running", events="",
        slot={"s-Y": {"absent": True}}),
    Row("who is absent from two lists in a row has ended",
        given=[*XY, do.sync("s", "X")], call=do.sync("s", "X"), verdict="synced", slots="s-X:running",
        events="run_ended", said={"run_ended": {"agentId": "Y", "outcome": "lost"}}),
    Row("who was absent, there and absent again has not ended",
        given=[*XY, do.sync("s", "X"), do.sync("s", "X Y"), do.sync("s", "X")], call=do.sync("s", "X Y"),
        verdict="synced", slots="s-X:running s-Y:running", slot={"s-Y": {"absent": None}}),
    Row("who was absent and said to have started in between has not ended",
        given=[*XY, do.sync("s", "X"), do.started("s", "Y")], call=do.sync("s", "X"), verdict="synced",
        slots="s-X:running s-Y:running"),
    Row("who was absent, ended and started again has not ended",
        given=[*XY, do.sync("s", "X"), do.stopped("s", "Y"), do.started("s", "Y")], call=do.sync("s", "X"),
        verdict="synced", slots="s-X:running s-Y:running"),
    Row("a lost end is repaired and the line served",
        given=[*T_WAITS, do.sync("s", "X")], call=do.sync("s", "X"), verdict="synced", holds={"work": "t"},
        events="run_ended hold_given"),
    Row("one that nobody announced is counted as revived",
        given=[do.join("s")], call=do.sync("s", "X"), verdict="synced", slots="new-X:running", used={"work": 1},
        slot={"new X": {"unqueued": "revived", "agent": "X"}}, events="run_started"),
    Row("over the cap it is counted all the same",
        given=[ONE, do.join("s")], call=do.sync("s", "X Y"), verdict="synced", used={"work": 2},
        fields={"started": began(("X", "work", 0, "revived"), ("Y", "work", 1, "revived"))}),
    Row("its parent and type say what it counts against",
        given=[do.join("s")], call=do.sync("s", "X P:scout:X"), verdict="synced", used={"work": 1},
        slot={"new P": {"kind": "sub", "parent": "X", "type": "scout", "pool": None}}),
    Row("a start that was lost is made up for",
        given=[do.join("s"), do.spawn("s", "s1", key="X")], call=do.sync("s", "X"), verdict="synced",
        slots="s1:running", due={}, fields={"started": began(("X", "work", 0, ""))}),
    Row("who is still to start is not absent",
        given=[do.join("s"), do.spawn("s", "s1", key="X"), do.sync("s", "")], call=do.sync("s", ""),
        verdict="synced", slots="s1:starting", same=True),
    Row("who is ending is not absent, and its 500 ms go on",
        given=[*XY, do.stopped("s", "Y"), do.sync("s", "X"), do.step(400)], call=do.sync("s", "X"),
        verdict="synced", slots="s-X:running s-Y:ending", due={"end|s-Y": 100}),
    Row("who is ending on the board but runs goes on",
        given=[*XY, do.stopped("s", "Y")], call=do.sync("s", "X Y"), verdict="synced",
        slots="s-X:running s-Y:running", due={}),
    Row("another session's agents are its own affair",
        given=[*ST, do.runs("s", "X"), do.sync("t", "")], call=do.sync("t", ""), verdict="synced",
        slots="s-X:running"),
    Row("a session that the board does not know has to join",
        given=FULL, call=do.sync("z", "X"), verdict="unknown", same=True),
    Row("a board made by a newer omp-coord is left alone",
        given=[*XY, do.seed("HSET", "META", "schema", "2")], call=do.sync("s", "X"), verdict="newerSchema",
        fields={"schema": "2"}, same=True),
)  # fmt: skip
def test_verdicts(world: World, row: Row) -> None:
    """The board takes over what really runs: the absent have ended, the unannounced are counted."""
    row.play(world)
