"""lua/job_beat.lua: a job's beat, and a waiter's ask."""

from __future__ import annotations

from tests.lua.table import Row, table
from tests.lua.test_job_enqueue import names
from tests.lua.world import World, do

NEXT, PLACE = "1800000000000001", "1800000000000002"


@table(
    Row("a running job runs on and its lease is renewed",
        given=[do.running("a"), do.step(2000)], call=do.beat("a"), verdict="running",
        fields={"killBy": "", "killReason": ""}, lease={"a": 10_000}, states={"a": "running"}, events="",
        meta={"lastBeat": "1800000002000"}),
    Row("a kill that was asked for is told with every beat",
        given=[do.running("a"), do.cancel("a", by="ann", reason="why", kill=True), do.beat("a")],
        call=do.beat("a"), verdict="running", fields={"killBy": "ann", "killReason": "why"}),
    Row("a stopped command is shown so and keeps its slot",
        given=[do.running("a")], call=do.beat("a", "stopped"), verdict="running", seats="a",
        states={"a": "stopped"}, events="job_stopped"),
    Row("a stopped command that runs on is shown so",
        given=[do.running("a"), do.beat("a", "stopped")], call=do.beat("a"), verdict="running",
        states={"a": "running"}, events="job_continued"),
    Row("the same state again is no event",
        given=[do.running("a"), do.beat("a", "stopped")], call=do.beat("a", "stopped"), verdict="running", events=""),
    Row("a job taken for an orphan is none when its runner beats",
        given=[do.running("a"), do.vouch(orphaned="a", pids=[7]), do.sweep()], call=do.beat("a"), verdict="running",
        jobs={"a": {"state": "running", "pids": None}}, events="job_continued"),
    Row("a waiter is told its place and who holds the slots",
        given=[do.running("a"), do.waiting("b", "c")], call=do.ask("c"), verdict="waiting",
        fields={"ticket": "1800000000000003", "queuedAt": 1_800_000_000_000, "cause": "full", "place": 2,
                "about": "", "holders": names("a"), "ahead": "[]"}, events="", line="b c"),
    Row("a waiter may ask who stands before it in its lane",
        given=[do.running("a"), do.waiting("b", "c", "d")], call=do.ask("d", ahead=True), verdict="waiting",
        fields={"ahead": names("b", "c")}),
    Row("of those ahead the first 32 are told",
        given=[do.running("a"), do.crowd(40)], call=do.ask("j39", ahead=True), verdict="waiting",
        fields={"ahead": names(*[f"j{n}" for n in range(32)]), "place": 40}),
    Row("a waiter whose slot is held is told to confirm",
        given=[do.running("a"), do.waiting("b"), do.finish("a")], call=do.ask("b"), verdict="granted",
        fields={"fence": NEXT, "ticket": PLACE, "limitMs": "", "owner": "o", "inside": ""},
        states={"b": "granted"}, events=""),
    Row("a waiter that missed the answer to its start is told again",
        given=[do.running("a"), do.waiting("b"), do.finish("a"), do.start("b")], call=do.ask("b"),
        verdict="granted", fields={"fence": NEXT}, states={"b": "running"}, events=""),
    Row("a waiter that lapsed unconfirmed is back at its ticket and granted at once when it is next",
        given=[do.running("a"), do.waiting("b"), do.finish("a"), do.step(5000)], call=do.ask("b"),
        verdict="granted", fields={"fence": "1800000005000000", "ticket": PLACE},
        events="job_away job_back job_granted"),
    Row("a waiter that was passed over is back at its ticket, before those who came later",
        given=[do.running("a"), do.enqueue("b"), do.waiting("c", "d"), do.finish("a")], call=do.ask("b"),
        verdict="waiting", fields={"place": 1, "cause": "full"}, line="b d", events="job_back"),
    Row("a waiter that still does not listen is passed over again",
        given=[do.running("a"), do.enqueue("b"), do.finish("a")], call=do.ask("b"), verdict="waiting",
        fields={"cause": "notListening"}, states={"b": "away"}, suspects="b", events="job_back job_away"),
    Row("a job that runs inside another's slot but believes it waits is told so",
        given=[do.running("a"), do.enqueue("b", parent="a")], call=do.ask("b"), verdict="nested",
        fields={"inside": "a", "fence": NEXT}, events=""),
    Row("a job that was cancelled is told by whom",
        given=[do.running("a"), do.waiting("b"), do.cancel("b", by="ann", reason="why")], call=do.ask("b"),
        verdict="ended", fields={"how": "cancelled", "by": "ann", "cause": "why", "at": 1_800_000_000_000},
        same=True),
    Row("a job that was taken for gone is told so",
        given=[do.running("a"), do.vouch(gone="a"), do.sweep()], call=do.beat("a"), verdict="ended",
        fields={"how": "lost", "cause": "its process is gone"}),
    Row("another process cannot beat for it",
        given=[do.running("a"), do.step(1000)], call=do.beat("a", instance="other"), verdict="notYours", same=True),
    Row("a job that the board does not know has to register",
        given=[do.running("a")], call=do.beat("z"), verdict="unknown", same=True),
    Row("after a flush it is unknown",
        given=[do.running("a"), do.flush()], call=do.beat("a"), verdict="unknown", states={}),
    Row("a board made by a newer omp-coord is left alone",
        given=[do.running("a"), do.seed("HSET", "META", "schema", "2")], call=do.beat("a"),
        verdict="newerSchema", fields={"schema": "2"}, same=True),
)  # fmt: skip
def test_verdicts(world: World, row: Row) -> None:
    """One beat renews the lease and brings all that a job must know; for another process it changes nothing."""
    row.play(world)


def test_a_waiter_runs_inside_a_slot_that_its_ancestor_got_meanwhile(world: World) -> None:
    """Two nested jobs wait for one queue; when the parent of one gets the slot the child shares it."""
    world.running("a")
    world.running("top", queue="r")
    world.waiting("b", parent="top")
    world.waiting("c", parent="b")
    world.waiting("d")
    world.finish("a")
    world.start("b")
    answer = world.ask("c")
    assert answer.verdict == "nested"
    assert answer.fields["inside"] == "b"
    assert world.seen().ids(world.seen().running, "q") == ["b"]
    assert world.seen().ids(world.seen().waiting, "q") == ["d"]


MORE, LESS = do.policy("more", q={"slots": 3}, r={"slots": 1}), do.policy("less", q={"slots": 1}, r={"slots": 1})
TWO = do.policy("p", q={"slots": 2}, r={"slots": 1})


@table(
    Row("a changed configuration that raises the cap serves the line at once",
        given=[MORE, do.running("a"), do.waiting("b", "c", policy="more"), do.ask("b")],
        call=do.beat("a", policy="more"), verdict="running", seats="a b c", policies="more",
        states={"b": "granted", "c": "granted"}, events="job_granted job_granted", limits={"effective": 3}),
    Row("a changed configuration that lowers the cap stops new grants",
        given=[TWO, LESS, do.running("a", "b"), do.waiting("c"), do.beat("a", policy="less")],
        call=do.beat("b"), verdict="running", seats="a b", line="c", limits={"effective": 1, "limitedBy": "policy"}),
    Row("the same configuration again is no change",
        given=[do.running("a")], call=do.beat("a", policy="p"), verdict="running", events="", policies="p"),
    Row("the changed configuration is the job's from here on",
        given=[MORE, do.running("a")], call=do.beat("a", policy="more"), verdict="running",
        jobs={"a": {"policy": "more"}}, policies="more", events="policy_registered"),
    Row("a waiter may bring the change that grants it",
        given=[MORE, do.running("a", policy="more"), do.running("b", policy="more"),
               do.running("c", policy="more"), do.waiting("d"), do.finish("a")],
        call=do.ask("d", policy="more"), verdict="granted", limits={"effective": 3, "limitedBy": None},
        seats="b c d"),
    Row("a longer lease asked for holds from the next beat on",
        given=[do.policy("long", lease_ms=30_000, q={"slots": 1}, r={"slots": 1}), do.running("a"),
               do.beat("a", policy="long")],
        call=do.beat("a"), verdict="running", lease={"a": 30_000}),
)  # fmt: skip
def test_policies(world: World, row: Row) -> None:
    """A job may change its configuration while it waits or runs; what that raises is granted in the same step."""
    row.play(world)
