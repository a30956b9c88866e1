"""lua/board_read.lua: reading the whole board."""

from __future__ import annotations

import json
from typing import Any

from tests.lua.table import Row, table
from tests.lua.world import World, do


def parsed(**wanted: Any) -> Any:
    return lambda text: {name: json.loads(text)[name] for name in wanted} == wanted


FAIR = {"slots": 1, "order": "fair-share", "lanes": {"hi": {"priority": 5}}}


@table(
    Row("no board is empty, and reading makes none",
        call=do.read(), verdict="empty", fields={"now": 1_800_000_000_000}, same=True,
        check=lambda _, after: after.meta == {"testMicros": "1800000000000000"}),
    Row("all jobs, limits and policies in one step, and nothing is changed",
        given=[do.running("a"), do.waiting("b")], call=do.read(), verdict="board", same=True,
        fields={"now": 1_800_000_000_000, "epoch": "epoch of m1", "settleMs": 0, "lease": 10_000, "late": "",
                "jobs": lambda text: {job["id"]: job["state"] for job in json.loads(text)}
                == {"a": "running", "b": "waiting"},
                "limits": lambda text: json.loads(text)["q"]["effective"] == 1,
                "policies": parsed(p={"source": "test", "queues": {"q": {"slots": 1}, "r": {"slots": 1}},
                                      "registered": "1800000000000000"}),
                "order": "b"}),
    Row("a board made by a newer omp-coord is not read",
        given=[do.running("a"), do.seed("HSET", "META", "schema", "2")], call=do.read(), verdict="newerSchema",
        fields={"schema": "2"}, same=True),
    Row("reading is not watched: even `lastOp` stays",
        given=[do.running("a"), do.step(1000)], call=do.read(), verdict="board", fields={"now": 1_800_000_001_000},
        meta={"lastOp": "1800000000000"}),
    Row("who is late by one and a half beats is named",
        given=[do.running("a"), do.waiting("b"), do.step(3000), do.ask("b")], call=do.read(), verdict="board",
        fields={"late": "a"}),
    Row("a board that settles says for how long",
        given=[do.unknown_before(), do.enqueue("a"), do.step(1000)], call=do.read(), verdict="board",
        fields={"settleMs": 2000, "order": "a"}),
    Row("nothing waits and nothing runs",
        given=[do.running("a"), do.finish("a")], call=do.read(), verdict="board",
        fields={"jobs": "[]", "order": ""}),
    Row("a job that is away stands in no line",
        given=[do.running("a"), do.enqueue("b"), do.waiting("c"), do.finish("a")], call=do.read(),
        verdict="board", fields={"order": ""}),
    Row("the order is that of service: priority, then tickets",
        given=[do.policy("p", q={"slots": 1, "lanes": {"hi": {"priority": 5}, "also": {}}}), do.running("a"),
               do.waiting("b"), do.waiting("c", lane="also"), do.waiting("d"), do.waiting("e", lane="hi")],
        call=do.read(), verdict="board", fields={"order": "e b c d"}),
    Row("under fair share each owner's first comes before anybody's second",
        given=[do.policy("p", q=FAIR), do.running("a", owner="x"), do.waiting("b", "c", owner="x"),
               do.waiting("d", "e", owner="y"), do.waiting("f", owner="x", lane="hi")],
        call=do.read(), verdict="board", fields={"order": "f d b e c"}),
)  # fmt: skip
def test_verdicts(world: World, row: Row) -> None:
    """One step shows the whole board as it is, and changes nothing."""
    row.play(world)
