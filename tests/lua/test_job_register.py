"""lua/job_register.lua: a living job that the board has lost comes back."""

from __future__ import annotations

from tests.lua.table import Row, table
from tests.lua.world import World, do

OLD, LATER = "1700000000000005", "1900000000000000"
HELD = {"ticket": OLD, "fence": OLD}
FLUSHED = [do.running("a"), do.waiting("b"), do.unknown_before(), do.flush()]
NOW, NEXT, PLACE = "1800000000000000", "1800000000000001", "1800000000000002"


@table(
    Row("after a flush a running job stands as before, with its ticket and fence",
        given=FLUSHED, call=do.register("a", ticket=NEXT, fence=NOW), verdict="running",
        fields={"fence": NOW, "ticket": NEXT, "limitMs": "", "owner": "o", "inside": "", "settleMs": 3000},
        seats="a", states={"a": "running"}, lease={"a": 10_000},
        events="board_made policy_registered reregistered",
        check=lambda _, after: after.served == {"q|o": int(NOW)}),
    Row("an older grant that comes back does not make its owner look served long ago",
        given=[do.running("a")], call=do.register("b", **HELD), verdict="running",
        check=lambda _, after: after.served == {"q|o": int(NOW)}),
    Row("after a flush a waiting job stands in line at its old ticket",
        given=[*FLUSHED, do.register("c", "waiting", ticket=LATER)], call=do.register("b", "waiting", ticket=PLACE),
        verdict="waiting", fields={"ticket": PLACE, "queuedAt": 1_800_000_000_000, "cause": "settling", "place": 1},
        line="b c", seats=""),
    Row("a stopped job comes back stopped",
        given=FLUSHED, call=do.register("a", "stopped", **HELD), verdict="running", states={"a": "stopped"}),
    Row("what runs counts, whatever the caps say",
        given=[do.running("a")], call=do.register("b", **HELD), verdict="running", seats="b a",
        limits={"effective": 1}),
    Row("while a board settles nobody new is granted, not even a free slot",
        given=[*FLUSHED, do.register("b", "waiting", ticket=PLACE)], call=do.ask("b"), verdict="waiting",
        fields={"cause": "settling"}, seats="", line="b"),
    Row("the counters are raised to what it brings, so neither goes back",
        given=[do.running("a"), do.register("b", ticket=LATER, fence=LATER), do.finish("a"), do.finish("b")],
        call=do.enqueue("c"), verdict="granted",
        fields={"fence": "1900000001000501", "ticket": "1900000000000001"}),
    Row("older numbers do not lower the counters",
        given=[do.running("a"), do.register("b", **HELD), do.finish("a"), do.finish("b")], call=do.enqueue("c"),
        verdict="granted", fields={"fence": NEXT}),
    Row("a job that ran uncoordinated gets its numbers now",
        given=[do.running("a")], call=do.register("b"), verdict="running",
        fields={"fence": NEXT, "ticket": PLACE}, seats="a b"),
    Row("a job that the board still has is only renewed",
        given=[do.running("a"), do.step(1000)], call=do.register("a", ticket=NEXT, fence=NOW), verdict="running",
        events="", lease={"a": 10_000}, jobs={"a": {"startedAt": 1_800_000_000_000}}),
    Row("a waiting job that the board still has is only renewed",
        given=[do.running("a"), do.waiting("b"), do.step(1000)], call=do.register("b", "waiting", ticket=PLACE),
        verdict="waiting", events="", line="b", lease={"b": 10_000}),
    Row("a waiter that was passed over is back in line",
        given=[do.running("a"), do.enqueue("b"), do.waiting("c"), do.finish("a")],
        call=do.register("b", "waiting", ticket=PLACE), verdict="waiting", line="b", events="job_back"),
    Row("a waiter for whom a slot is held is told to confirm",
        given=[do.running("a"), do.waiting("b"), do.finish("a")], call=do.register("b", "waiting", ticket=PLACE),
        verdict="granted", fields={"fence": NEXT}, states={"b": "granted"}, events=""),
    Row("a waiter that missed the answer to its start is told to confirm again",
        given=[do.running("a"), do.waiting("b"), do.finish("a"), do.start("b")],
        call=do.register("b", "waiting", ticket=PLACE), verdict="granted", fields={"fence": NEXT},
        states={"b": "running"}, events=""),
    Row("a waiter that comes back to a free slot is granted it",
        given=[do.running("x", queue="r"), do.listen("b")], call=do.register("b", "waiting", ticket=OLD),
        verdict="granted", states={"b": "granted"}, events="reregistered job_granted"),
    Row("a job that was let through while the board kept its place in line runs now",
        given=[do.running("a"), do.waiting("b", "c")], call=do.register("b", ticket=PLACE), verdict="running",
        seats="a b", line="c", states={"b": "running"}, events="reregistered",
        fields={"ticket": PLACE, "fence": NEXT}),
    Row("a job that was let through while it was away from the line runs now",
        given=[do.running("a"), do.enqueue("b"), do.finish("a")], call=do.register("b", ticket=PLACE),
        verdict="running", seats="b", states={"b": "running"}),
    Row("a job that was let through while a grant was kept for it takes that slot, no second one",
        given=[do.running("a"), do.waiting("b", "c"), do.finish("a")], call=do.register("b", ticket=PLACE),
        verdict="running", seats="b", line="c", states={"b": "running"}),
    Row("what a server forgot in its last second is put right: the grant was confirmed",
        given=[do.running("a"), do.waiting("b"), do.finish("a")], call=do.register("b", ticket=PLACE, fence=NEXT),
        verdict="running", fields={"fence": NEXT}, seats="b", states={"b": "running"}),
    Row("what a server forgot in its last second is put right: a later fence",
        given=[do.running("a")], call=do.register("a", ticket=NOW, fence=LATER), verdict="running",
        fields={"fence": LATER}, seats="a", meta={"fence": "1900000001000500"}),
    Row("one that comes back with another configuration leaves the old one",
        given=[do.policy("new", q={"slots": 2}, r={"slots": 1}), do.running("a"), do.waiting("b")],
        call=do.register("b", policy="new", ticket=PLACE), verdict="running", policies="new p",
        jobs={"b": {"policy": "new"}}),
    Row("a configuration that nobody has any more goes when its last job comes back with another",
        given=[do.policy("new", q={"slots": 2}, r={"slots": 1}), do.running("a", policy="new"), do.waiting("b")],
        call=do.register("b", policy="new", ticket=PLACE), verdict="running", policies="new"),
    Row("one that was dropped for a lapsed lease may come back",
        given=[do.running("x"), do.running("a", queue="r", on="m2"), do.pass_by(11, "x")],
        call=do.register("a", queue="r", on="m2", ticket=PLACE, fence=NEXT), verdict="running",
        states={"a": "running"}, ended={}, events="reregistered",
        check=lambda before, after: "a" in before.ended and "a" not in after.ended),
    Row("one that was cancelled does not come back",
        given=[do.running("a"), do.waiting("b"), do.cancel("b", by="ann", reason="why")],
        call=do.register("b", "waiting", ticket=PLACE), verdict="ended",
        fields={"how": "cancelled", "by": "ann", "cause": "why", "at": 1_800_000_000_000}, same=True),
    Row("one that has finished does not come back",
        given=[do.running("a"), do.finish("a")], call=do.register("a", ticket=NEXT, fence=NOW), verdict="ended",
        fields={"how": "finished"}, same=True),
    Row("another process cannot come back as it",
        given=[do.running("a")], call=do.register("a", instance="other", ticket=NEXT, fence=NOW),
        verdict="notYours", same=True),
    Row("a nested job comes back inside the slot of its ancestor",
        given=[do.register("a", **HELD)], call=do.register("b", inside="a", parent="a", fence=LATER),
        verdict="running", fields={"inside": "a"}, seats="a"),
    Row("a nested job whose holder is not back yet counts by itself",
        given=[do.running("x", queue="r")], call=do.register("b", inside="a", parent="a", fence=LATER),
        verdict="running", fields={"inside": ""}, seats="b"),
    Row("a board made by a newer omp-coord is left alone",
        given=[do.running("a"), do.seed("HSET", "META", "schema", "2")], call=do.register("b"),
        verdict="newerSchema", fields={"schema": "2"}, same=True),
)  # fmt: skip
def test_verdicts(world: World, row: Row) -> None:
    """What really runs or waits is taken in with its own ticket and fence; who has ended, or is another, is not."""
    row.play(world)


def test_a_flush_under_four_running_and_six_newcomers_never_gives_ten(world: World) -> None:
    """Newcomers wait while the living come back; when the board has settled the caps hold as before."""
    world.policy("p", q={"slots": 4})
    world.running("r1", "r2", "r3", "r4")
    fences = {job: world.fence(job) for job in ("r1", "r2", "r3", "r4")}
    world.unknown_before()
    world.flush()
    world.step(1)
    newcomers = [f"n{n}" for n in range(6)]
    world.waiting(*newcomers[:3])
    for job, fence in fences.items():
        assert world.register(job, ticket=fence, fence=fence).fields["fence"] == fence
    world.waiting(*newcomers[3:])
    for _ in range(4):
        world.step(1000)
        world.ask("n0")
    seen = world.seen()
    assert seen.ids(seen.running, "q") == ["r1", "r2", "r3", "r4"]
    assert seen.ids(seen.waiting, "q") == newcomers
    world.finish("r1")
    assert world.seen().jobs["n0"]["state"] == "granted"
