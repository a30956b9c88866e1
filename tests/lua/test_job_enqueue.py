"""lua/job_enqueue.lua: asking for a slot."""

from __future__ import annotations

import json
import re
from typing import Any

from tests.lua.table import Row, table
from tests.lua.world import World, do


def names(*jobs: str) -> Any:
    """Asks a JSON list of records for these jobs, in this order."""
    return lambda text: [record["id"] for record in json.loads(text)] == list(jobs)


def digits(text: str) -> bool:
    return re.fullmatch(r"\d{16}", text) is not None


@table(
    Row("a free slot is granted at once", call=do.enqueue("a"), verdict="granted",
        fields={"fence": digits, "ticket": digits, "limitMs": "", "owner": "o", "inside": ""},
        seats="a", line="", states={"a": "running"}, lease={"a": 10_000},
        events="board_made policy_registered job_queued job_started"),
    Row("a lost answer is asked for again and nothing changes",
        given=[do.running("a")], call=do.enqueue("a"), verdict="granted",
        fields={"fence": "1800000000000000", "ticket": "1800000000000001"}, same=True),
    Row("a full queue gives a place in line",
        given=[do.running("a")], call=do.enqueue("b"), verdict="waiting",
        fields={"ticket": digits, "queuedAt": 1_800_000_000_000, "cause": "full", "place": 1, "about": "",
                "holders": names("a"), "ahead": "[]"},
        seats="a", line="b", states={"b": "waiting"}, lease={"b": 10_000}, events="job_queued"),
    Row("a place counts those ahead",
        given=[do.running("a"), do.waiting("b", "c")], call=do.enqueue("d"), verdict="waiting",
        fields={"place": 3}, line="b c d"),
    Row("a waiting job that asks again keeps its place and changes nothing",
        given=[do.running("a"), do.waiting("b", "c")], call=do.enqueue("b"), verdict="waiting",
        fields={"place": 1}, same=True),
    Row("a grant is confirmed by asking again",
        given=[do.running("a"), do.waiting("b"), do.finish("a")], call=do.enqueue("b"), verdict="granted",
        states={"b": "running"}, events="job_started"),
    Row("a waiter that was passed over is told that it does not listen",
        given=[do.running("a"), do.enqueue("b"), do.finish("a")], call=do.enqueue("b"), verdict="waiting",
        fields={"cause": "notListening", "about": "1", "holders": "[]"}, same=True),
    Row("no wait and no slot leaves nothing behind",
        given=[do.running("a")], call=do.enqueue("b", wait=False), verdict="busy",
        fields={"cause": "full", "holders": names("a")}, same=True),
    Row("no wait and a free slot is granted",
        call=do.enqueue("a", wait=False), verdict="granted", seats="a"),
    Row("no wait with a policy that nobody else has leaves no policy and no limit behind",
        given=[do.running("a"), do.policy("new", q={"slots": 5, "order": "fair-share"}, z={"slots": 1})],
        call=do.enqueue("b", policy="new", wait=False), verdict="busy", gone="b new",
        check=lambda before, after: (before.limits, before.policies) == (after.limits, after.policies)),
    Row("a new board settles: who comes waits",
        given=[do.unknown_before()], call=do.enqueue("a"), verdict="waiting",
        fields={"cause": "settling", "settleMs": 3000, "place": 1, "holders": "[]"}, seats="", line="a"),
    Row("a new board settles: who will not wait is busy and leaves nothing behind",
        given=[do.unknown_before()], call=do.enqueue("a", wait=False), verdict="busy",
        fields={"cause": "settling", "holders": "[]"}, gone="a", seats="", line=""),
    Row("an id that was cancelled stays so",
        given=[do.running("a"), do.waiting("b"), do.cancel("b", by="ann", reason="why")],
        call=do.enqueue("b"), verdict="ended", same=True,
        fields={"how": "cancelled", "by": "ann", "cause": "why", "at": 1_800_000_000_000}),
    Row("an id that has finished stays so",
        given=[do.running("a"), do.finish("a")], call=do.enqueue("a"), verdict="ended",
        fields={"how": "finished", "by": "", "cause": ""}, same=True),
    Row("a board made by a newer omp-coord is left alone",
        given=[do.running("a"), do.seed("HSET", "META", "schema", "2")], call=do.enqueue("b"),
        verdict="newerSchema", fields={"schema": "2"}, same=True),
)  # fmt: skip
def test_verdicts(world: World, row: Row) -> None:
    """A job is granted a free slot at once, else it waits, or leaves nothing behind; asked again nothing changes."""
    row.play(world)


@table(
    Row("a job of a session on this board belongs to the session",
        given=[do.join("s1")], call=do.enqueue("a", session="s1"), verdict="granted",
        fields={"owner": "s1"}, jobs={"a": {"session": "s1", "owner": "s1"}}),
    Row("a job of a session that this board does not know belongs to the given owner",
        call=do.enqueue("a", session="s1"), verdict="granted", fields={"owner": "o"},
        jobs={"a": {"session": None, "owner": "o"}}),
    Row("the record is kept as it came, with what the board adds",
        call=do.enqueue("a", label="übung | %", cwd="/x"), verdict="granted",
        jobs={"a": {"label": "übung | %", "cwd": "/x", "machine": "m1", "policy": "p", "lane": "default",
                    "queuedAt": 1_800_000_000_000, "grantedAt": 1_800_000_000_000,
                    "startedAt": 1_800_000_000_000, "parent": None, "limitMs": None}}),
    Row("the queue's time limit holds",
        given=[do.policy("p", q={"slots": 1, "timeLimitMs": 60_000})], call=do.enqueue("a"), verdict="granted",
        fields={"limitMs": 60_000}),
    Row("a job may ask for less time than its queue gives",
        given=[do.policy("p", q={"slots": 1, "timeLimitMs": 60_000})], call=do.enqueue("a", limit_ms=5),
        verdict="granted", fields={"limitMs": 5}),
    Row("a job that asks for more time than its queue gives gets the queue's",
        given=[do.policy("p", q={"slots": 1, "timeLimitMs": 60_000})], call=do.enqueue("a", limit_ms=60_001),
        verdict="granted", fields={"limitMs": 60_000}, jobs={"a": {"limitMs": 60_000}}),
    Row("queues are served apart",
        given=[do.running("a")], call=do.enqueue("b", queue="r"), verdict="granted", seats="a"),
    Row("the first call of a scope says that the board is new",
        given=[do.subscribe("epoch")], call=do.enqueue("a"), verdict="granted",
        fields={"epoch": "epoch of m1", "settleMs": "0"}, heard={"epoch": "epoch of m1"}),
    Row("watchers are told that the board changed",
        given=[do.running("a"), do.subscribe("board")], call=do.enqueue("b"), verdict="waiting",
        heard={"board": "waiting"}),
    Row("watchers hear nothing of a call that changes nothing",
        given=[do.running("a"), do.subscribe("board")], call=do.enqueue("b", wait=False), verdict="busy",
        heard={"board": ""}),
)  # fmt: skip
def test_record(world: World, row: Row) -> None:
    """A job's record says who it is, whose, since when and for how long at most."""
    row.play(world)


LANES = {"slots": 4, "lanes": {"main": {"priority": 5, "reserved": 2, "max": 3}, "default": {"max": 3}}}
ALL_RESERVED = {"slots": 2, "lanes": {"main": {"reserved": 2}, "other": {"reserved": 1}}}


@table(
    Row("a lane runs no more than its max, though slots are free",
        given=[do.policy("p", q={"slots": 4, "lanes": {"default": {"max": 2}}}), do.running("a", "b")],
        call=do.enqueue("c"), verdict="waiting", seats="a b", line="c"),
    Row("a lane's max of 0 admits nobody",
        given=[do.policy("p", q={"slots": 4, "lanes": {"default": {"max": 0}}})], call=do.enqueue("a"),
        verdict="waiting", seats="", line="a"),
    Row("places reserved for another lane are kept free",
        given=[do.policy("p", q=LANES), do.running("a", "b")], call=do.enqueue("c"), verdict="waiting", line="c"),
    Row("the lane itself gets its reserved place",
        given=[do.policy("p", q=LANES), do.running("a", "b"), do.waiting("c")], call=do.enqueue("d", lane="main"),
        verdict="granted", seats="a b d", line="c"),
    Row("a lane may run more than its reserve while slots are free",
        given=[do.policy("p", q=LANES), do.running("a", "b", lane="main")], call=do.enqueue("c", lane="main"),
        verdict="granted", seats="a b c"),
    Row("a reserve that is met is kept free no more",
        given=[do.policy("p", q=LANES), do.running("a", "b", lane="main"), do.running("c")],
        call=do.enqueue("d"), verdict="granted", seats="a b c d"),
    Row("a job that fits now starts now, though an earlier one waits for its own lane",
        given=[do.policy("p", q=LANES), do.running("a", "b", "c", lane="main"), do.waiting("d", lane="main")],
        call=do.enqueue("e"), verdict="granted", seats="a b c e", line="d"),
    Row("when all slots are reserved nothing is",
        given=[do.policy("p", q=ALL_RESERVED)], call=do.enqueue("a"), verdict="granted", seats="a"),
    Row("when all slots are reserved a lane may take the last one of another",
        given=[do.policy("p", q=ALL_RESERVED), do.running("a")], call=do.enqueue("b"), verdict="granted",
        seats="a b"),
    Row("a load cap that leaves no more slots than reserves takes the reserves away",
        given=[do.policy("p", q={**LANES, "loadCaps": [[4, 2]]}), do.running("a")],
        call=do.enqueue("b", load="5"), verdict="granted", seats="a b", limits={"effective": 2, "limitedBy": "load"}),
)  # fmt: skip
def test_lanes(world: World, row: Row) -> None:
    """A lane admits a job while it is under its max and the slot is not one that another lane has reserved."""
    row.play(world)


@table(
    Row("in a fifo queue an earlier ticket of the same priority is ahead, whatever its lane",
        given=[do.policy("p", q={"slots": 1, "lanes": {"x": {}, "hi": {"priority": 9}}}), do.running("a"),
               do.waiting("b", lane="x"), do.waiting("c"), do.waiting("d", lane="hi")],
        call=do.enqueue("e"), verdict="waiting", fields={"place": 4, "about": ""}),
    Row("lower priority is never ahead",
        given=[do.policy("p", q={"slots": 1, "lanes": {"hi": {"priority": 9}}}), do.running("a"),
               do.waiting("b", "c")],
        call=do.enqueue("d", lane="hi"), verdict="waiting", fields={"place": 1}),
    Row("under fair share a place is an estimate",
        given=[do.policy("p", q={"slots": 1, "order": "fair-share"}), do.running("a"), do.waiting("b", "c", "d")],
        call=do.enqueue("e", owner="other"), verdict="waiting", fields={"place": 1, "about": "1"}),
    Row("under fair share an owner's own earlier jobs are ahead",
        given=[do.policy("p", q={"slots": 1, "order": "fair-share"}), do.running("a", owner="z"),
               do.waiting("b", "c"), do.waiting("d", owner="other")],
        call=do.enqueue("e"), verdict="waiting", fields={"place": 4, "about": "1"}),
)  # fmt: skip
def test_places(world: World, row: Row) -> None:
    """A place says how many will be served before, by priority, then by ticket or fair share."""
    row.play(world)


NESTED = [do.running("a"), do.running("b", queue="r", parent="a")]
KNOT = [do.running("a"), do.running("x", queue="r"), do.waiting("y", parent="x")]
LOOSE = [do.policy("p", q={"slots": 1}, r={"slots": 2}), *KNOT, do.running("z", queue="r")]
INNER_LANE = {"slots": 3, "lanes": {"one": {"max": 1}}}


@table(
    Row("a job runs inside the slot that its parent holds",
        given=[do.running("a")], call=do.enqueue("b", parent="a"), verdict="nested",
        fields={"inside": "a", "fence": "1800000000000001"}, seats="a", jobs={"b": {"inside": "a", "parent": "a"}},
        events="job_queued job_started"),
    Row("asked again it is told the same",
        given=[do.running("a"), do.enqueue("b", parent="a")], call=do.enqueue("b", parent="a"), verdict="nested",
        fields={"inside": "a", "fence": "1800000000000001"}, same=True),
    Row("a queue that an ancestor further up holds is one slot for all below",
        given=NESTED, call=do.enqueue("c", parent="b"), verdict="nested", fields={"inside": "a"}, seats="a"),
    Row("inside a job that runs inside another one means inside the holder",
        given=[do.running("a"), do.enqueue("b", parent="a")], call=do.enqueue("c", parent="b"), verdict="nested",
        fields={"inside": "a"}, seats="a"),
    Row("another queue is taken as usual",
        given=[do.running("a")], call=do.enqueue("b", queue="r", parent="a"), verdict="granted",
        fields={"inside": ""}),
    Row("a nested job needs no free slot and passes those who wait",
        given=[do.running("a"), do.waiting("w")], call=do.enqueue("b", parent="a", wait=False), verdict="nested",
        seats="a", line="w"),
    Row("a parent that the board does not know is none",
        given=[do.running("a")], call=do.enqueue("b", parent="gone"), verdict="waiting", line="b"),
    Row("a parent that only waits holds nothing",
        given=[do.running("a"), do.waiting("b")], call=do.enqueue("c", parent="b"), verdict="waiting", line="b c"),
    Row("a wait for a holder that waits for one's own ancestor is a knot and leaves nothing behind",
        given=KNOT, call=do.enqueue("b", queue="r", parent="a"), verdict="knot",
        fields={"cause": "knot", "holders": names("x")}, same=True),
    Row("who will not wait is busy, never in a knot",
        given=KNOT, call=do.enqueue("b", queue="r", parent="a", wait=False), verdict="busy",
        fields={"cause": "full"}, same=True),
    Row("a holder that may end makes it a wait",
        given=LOOSE, call=do.enqueue("b", queue="r", parent="a"), verdict="waiting"),
    Row("a wait for a lane that only an ancestor's own nest fills is a knot",
        given=[do.policy("p", q=INNER_LANE, r={"slots": 1}), do.running("a", lane="one"), do.running("f"),
               do.running("x", queue="r"), do.waiting("y", lane="one", parent="x")],
        call=do.enqueue("b", queue="r", parent="a"), verdict="knot", same=True),
    Row("a settling board knows too little for a knot: it is a wait",
        given=[do.unknown_before(), do.register("a"), do.register("x", queue="r"), do.enqueue("y", parent="x")],
        call=do.enqueue("b", queue="r", parent="a"), verdict="waiting", fields={"cause": "settling"}),
)  # fmt: skip
def test_nested(world: World, row: Row) -> None:
    """A job runs inside the slot its ancestor holds; a wait that could never end is refused at once."""
    row.play(world)
