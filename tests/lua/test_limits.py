"""The limits of a queue: what the live policies and the load together leave of it (lib/limits_compute)."""

from __future__ import annotations

from tests.lua.table import Row, table
from tests.lua.world import World, do

SLOTS = {f"p{n}": do.policy(f"p{n}", q={"slots": n}) for n in (1, 2, 3)}


@table(
    Row("the smallest number of slots that any policy names holds",
        given=[SLOTS["p3"], SLOTS["p1"], do.running("a", policy="p3")], call=do.enqueue("b", policy="p1"),
        verdict="waiting", limits={"slots": 1, "effective": 1, "limitedBy": "policy"}, policies="p1 p3"),
    Row("a policy cannot raise what another one says",
        given=[SLOTS["p3"], SLOTS["p1"], do.running("a", policy="p1")], call=do.enqueue("b", policy="p3"),
        verdict="waiting", limits={"slots": 1, "effective": 1, "limitedBy": "policy"}),
    Row("a policy that does not name the queue has no say",
        given=[do.policy("p2-only-r", r={"slots": 9}), do.running("a"), do.running("x", queue="r")],
        call=do.enqueue("y", queue="r", policy="p2-only-r"), verdict="waiting", limits={"slots": 1}),
    Row("a policy that names nothing else leaves the others' queues alone",
        given=[SLOTS["p2"], do.policy("r1", r={"slots": 1}), do.running("a", policy="p2"),
               do.running("x", queue="r", policy="r1")],
        call=do.enqueue("b", policy="p2"), verdict="granted", limits={"slots": 2, "effective": 2, "limitedBy": None}),
    Row("a configuration outweighs the one slot of a run without one",
        given=[SLOTS["p3"], do.policy("none", fallback=True, q={"slots": 1}), do.running("a", policy="p3")],
        call=do.enqueue("b", policy="none"), verdict="granted", limits={"slots": 3, "effective": 3}),
    Row("the one slot of a run without configuration holds while no file says otherwise",
        given=[do.policy("none", fallback=True, q={"slots": 1}), do.running("a", policy="none")],
        call=do.enqueue("b", policy="none"), verdict="waiting", limits={"slots": 1}),
    Row("the first file that names a queue serves its line at once",
        given=[do.policy("none", fallback=True, q={"slots": 1}), SLOTS["p3"], do.running("a", policy="none"),
               do.waiting("b", policy="none")],
        call=do.enqueue("c", policy="p3"), verdict="granted", seats="a b c", states={"b": "granted"}),
    Row("a slot that a newcomer's file brings goes to who waited",
        given=[do.policy("none", fallback=True, q={"slots": 1}), SLOTS["p2"], do.running("a", policy="none"),
               do.waiting("b", policy="none")],
        call=do.enqueue("c", policy="p2"), verdict="waiting", seats="a b", line="c", states={"b": "granted"}),
    Row("order and priorities are the newest policy's",
        given=[do.policy("old", q={"slots": 9, "order": "fair-share", "lanes": {"l": {"priority": 1}}}),
               do.policy("new", q={"slots": 9, "lanes": {"l": {"priority": 7}}}), do.running("a", policy="old"),
               do.step(1)],
        call=do.enqueue("b", policy="new"), verdict="granted",
        limits={"order": "fifo", "laneOrder": ["l", "default"]},
        check=lambda _, after: after.limits["q"]["lanes"]["l"]["priority"] == 7),
    Row("owners that wait in line already take turns from the moment that the order is fair share",
        given=[SLOTS["p1"], do.policy("fair", q={"slots": 1, "order": "fair-share"}), do.running("a", policy="p1"),
               do.waiting("b", "c", owner="x", policy="p1"), do.waiting("d", owner="y", policy="fair")],
        call=do.finish("a"), verdict="released", states={"b": "granted"}, limits={"order": "fair-share"},
        check=lambda _, after: [turn.split("|")[2:] for turn in after.turns] == [
            ["000000", "0000000000000000", "y"], ["000001", f"{int(after.jobs['b']['fence']):016d}", "x"]]),
    Row("and no longer from the moment that it is fifo again",
        given=[do.policy("fair", q={"slots": 1, "order": "fair-share"}), SLOTS["p1"], do.running("a", policy="fair"),
               do.waiting("b", owner="x", policy="fair"), do.waiting("c", owner="y", policy="p1")],
        call=do.finish("a"), verdict="released", states={"b": "granted"}, limits={"order": "fifo"},
        check=lambda _, after: after.turns == []),
    Row("the smallest reserve, max and time limit hold",
        given=[do.policy("old", q={"slots": 9, "timeLimitMs": 5, "lanes": {"l": {"reserved": 3, "max": 4}}}),
               do.policy("new", q={"slots": 9, "timeLimitMs": 9, "lanes": {"l": {"reserved": 4, "max": 9}}}),
               do.running("a", policy="old"), do.step(1)],
        call=do.enqueue("b", policy="new"), verdict="granted", fields={"limitMs": 5}, limits={"timeLimitMs": 5},
        check=lambda _, after: after.limits["q"]["lanes"]["l"] == {"priority": 0, "reserved": 3, "max": 4}),
    Row("a policy that nobody uses any more goes when another one comes",
        given=[SLOTS["p1"], SLOTS["p3"], do.running("a", policy="p1"), do.finish("a")],
        call=do.enqueue("b", policy="p3"), verdict="granted", policies="p3", limits={"slots": 3, "limitedBy": None}),
    Row("the board's lease is the longest that any policy asks for",
        given=[do.policy("long", lease_ms=40_000, q={"slots": 2}), do.running("a")],
        call=do.enqueue("b", policy="long"), verdict="waiting", meta={"lease": "40000"}, lease={"b": 40_000}),
    Row("a lease asked for that is too short to beat in is 2 s",
        given=[do.policy("short", lease_ms=1, q={"slots": 1})], call=do.enqueue("a", policy="short"),
        verdict="granted", meta={"lease": "2000"}, lease={"a": 2000}),
)  # fmt: skip
def test_policies(world: World, row: Row) -> None:
    """The stricter holds; order and priority are the newest's; a run without a file never lowers a file's cap."""
    row.play(world)


CAPPED = do.policy("p", q={"slots": 3, "loadCaps": [[4, 2], [8, 1]]})


@table(
    Row("under the threshold all slots count",
        given=[CAPPED, do.running("a", "b")], call=do.enqueue("c", load="4"), verdict="granted",
        limits={"effective": 3, "limitedBy": None}),
    Row("above the threshold the cap holds",
        given=[CAPPED, do.running("a", "b")], call=do.enqueue("c", load="4.01"), verdict="waiting",
        limits={"slots": 3, "effective": 2, "limitedBy": "load"}),
    Row("above the higher threshold the lower cap holds",
        given=[CAPPED, do.running("a")], call=do.enqueue("b", load="9"), verdict="waiting",
        limits={"effective": 1}),
    Row("the highest load of the last lease counts, whichever machine has it",
        given=[CAPPED, do.running("a"), do.enqueue("b", load="9"), do.step(9_000)],
        call=do.enqueue("c", on="m2"), verdict="waiting", limits={"effective": 1}),
    Row("a load older than a lease counts no more and the line is served",
        given=[CAPPED, do.running("a"), do.enqueue("x", wait=False, load="9", on="m2"), do.waiting("b"),
               do.pass_by(11, "a", "b")],
        call=do.enqueue("c"), verdict="granted", limits={"effective": 3}, seats="a b c",
        states={"b": "granted"}),
    Row("a load that was noted before the clock was set back counts no more",
        given=[CAPPED, do.running("a"), do.enqueue("x", wait=False, load="9", on="m2"), do.step(-3_600_000)],
        call=do.enqueue("b"), verdict="granted", limits={"effective": 3}),
    Row("the load of the very first call counts",
        given=[CAPPED, do.running("a", load="9")], call=do.enqueue("b", load="9"), verdict="waiting"),
    Row("the load of the very first call is forgotten when it has gone",
        given=[CAPPED, do.running("a", load="9"), do.step(1000)], call=do.enqueue("b"), verdict="granted",
        limits={"effective": 3}),
)  # fmt: skip
def test_load(world: World, row: Row) -> None:
    """A load above a threshold lowers the effective slots for as long as it was seen within a lease."""
    row.play(world)
