"""lua/board_sweep.lua, and what every deciding script does first: time, settling, suspects, vouching, lapses."""

from __future__ import annotations

import json

from tests.lua.table import Row, table
from tests.lua.world import World, do

START = 1_800_000_000_000
HOUR = 3_600_000
TWO = (
    '{"slots":2,"effective":2,"order":"fifo","lanes":{"default":{"priority":0,"reserved":0}},'
    '"laneOrder":["default"],"reserved":0}'
)


@table(
    Row("nothing to do changes nothing",
        given=[do.running("a"), do.waiting("b")], call=do.sweep(), verdict="swept", fields={"changed": ""},
        same=True),
    Row("what it drops is a change, and the next is served",
        given=[do.running("a"), do.waiting("b"), do.vouch(gone="a")], call=do.sweep(), verdict="swept",
        fields={"changed": "1"}, seats="b", states={"b": "granted"}, events="job_lost job_granted"),
    Row("it serves every queue, and says so",
        given=[do.running("a"), do.waiting("b"), do.seed("HSET", "LIMITS", "q|q", TWO)], call=do.sweep(),
        verdict="swept", fields={"changed": "1"}, seats="a b", states={"b": "granted"}),
    Row("old tombstones are forgotten by it also when nothing else is to be done",
        given=[do.running("a"), do.seed("HSET", "ENDED", "old", "{}"), do.seed("ZADD", "ENDED_AT", 1, "old")],
        call=do.sweep(), verdict="swept", check=lambda _, after: after.ended == {}),
    Row("it makes a board where there is none",
        call=do.sweep(), verdict="swept", fields={"changed": "1"}, events="board_made",
        meta={"schema": "1", "epoch": "epoch of m1", "settleUntil": "0", "lease": "10000"}),
    Row("a board made by a newer omp-coord is left alone",
        given=[do.running("a"), do.seed("HSET", "META", "schema", "2")], call=do.sweep(), verdict="newerSchema",
        fields={"schema": "2"}, same=True),
)  # fmt: skip
def test_verdicts(world: World, row: Row) -> None:
    """A sweep drops what has lapsed, serves every queue, and says whether that changed the board."""
    row.play(world)


ELSEWHERE = [do.running("a"), do.waiting("b"), do.enqueue("f", queue="r", on="m2")]


@table(
    Row("who beat within 3 s is nobody's suspect",
        given=[do.running("a"), do.step(2999)], call=do.sweep(), verdict="swept", suspects="", same=True),
    Row("who is late by one and a half beats is named to its own machine",
        given=[do.running("a"), do.step(3000)], call=do.sweep(), verdict="swept", suspects="a", same=True),
    Row("a suspect is named with its process",
        given=[do.running("a"), do.step(3000)], call=do.sweep(), verdict="swept",
        fields={"suspects": lambda text: json.loads(text) == [
            {"kind": "job", "id": "a", "state": "running", "machine": "m1",
             "process": {"pid": 1000, "start": "1", "instance": "a"}}]}),
    Row("who is late is no suspect on another machine",
        given=[do.running("a"), do.step(3000)], call=do.sweep(on="m2"), verdict="swept", suspects="", same=True),
    Row("a lapsed lease on one's own machine is never reaped by age",
        given=[*ELSEWHERE, do.pass_by(20, "b"), do.pass_by(20, "b")], call=do.sweep(), verdict="swept",
        suspects="a", seats="a"),
    Row("a lapsed lease of another machine is reaped and its slot handed on",
        given=[do.running("a", on="m2"), do.waiting("b"), do.pass_by(9, "b"), do.step(1000)], call=do.ask("b"),
        verdict="granted", gone="a", seats="b", events="job_lost job_granted",
        ended={"a": {"how": "lost", "cause": "its lease lapsed"}}),
    Row("a lease of another machine that has a second left is honoured",
        given=[do.running("a", on="m2"), do.waiting("b"), do.pass_by(9, "b")], call=do.ask("b"), verdict="waiting",
        seats="a"),
    Row("a waiting job of another machine is reaped too",
        given=[do.running("a"), do.waiting("b", on="m2"), do.pass_by(10, "a")], call=do.sweep(), verdict="swept",
        gone="b", line=""),
    Row("at most 32 suspects are named at once",
        given=[do.policy("p", q={"slots": 50}), do.crowd(40), do.step(3000)],
        call=do.sweep(), verdict="swept", fields={"suspects": lambda text: text.count('"kind"') == 32}),
    Row("at most 100 are reaped at once, the rest next time",
        given=[do.policy("p", q={"slots": 500}), do.crowd(120, on="m2"),
               do.running("x"), do.step(5000), do.beat("x"), do.step(4999), do.beat("x"),
               do.step(1)],
        call=do.sweep(), verdict="swept", check=lambda _, after: len(after.jobs) == 120 - 100 + 1),
)  # fmt: skip
def test_late(world: World, row: Row) -> None:
    """The late of one's own machine are named, never reaped by age; a lapsed lease of another machine is reaped."""
    row.play(world)


OWN = [do.running("a"), do.waiting("b")]


@table(
    Row("who is gone is dropped, everything of it freed, the next served",
        given=[*OWN, do.vouch(gone="a")], call=do.ask("b"), verdict="granted", gone="a", seats="b",
        ended={"a": {"how": "lost", "cause": "its process is gone"}}, events="job_lost job_granted"),
    Row("its slot goes to who waited, not to who comes with the news",
        given=[*OWN, do.vouch(gone="a")], call=do.enqueue("c"), verdict="waiting", gone="a", seats="b", line="c"),
    Row("all dead ones are dropped in one call",
        given=[do.running("a"), do.waiting("b", "c", "d"), do.vouch(gone="a b c")], call=do.ask("d"),
        verdict="granted", gone="a b c", seats="d", line=""),
    Row("a waiter that is gone is dropped before the slot is handed on",
        given=[do.running("a"), do.waiting("b", "c"), do.vouch(gone="b")], call=do.finish("a"), verdict="released",
        seats="c", gone="b", heard={"b": ""}),
    Row("who lives has its lease renewed",
        given=[*OWN, do.step(5000), do.vouch(live="a")], call=do.sweep(), verdict="swept", suspects="b",
        lease={"a": 10_000}, seats="a"),
    Row("who lives is not reaped in the very call that says so",
        given=[do.running("a"), do.waiting("b"), do.pass_by(9, "b"), do.step(1000), do.vouch(live="a", on="m2")],
        call=do.sweep(on="m2"), verdict="swept", seats="a"),
    Row("an orphan's command lives: it keeps the slot and its process ids are shown",
        given=[*OWN, do.vouch(orphaned="a", pids=[70, 71])], call=do.ask("b"), verdict="waiting", seats="a",
        jobs={"a": {"state": "orphaned", "pids": [70, 71]}}, events="job_orphaned"),
    Row("one that was killed between its grant and its confirmation may leave an orphan too",
        given=[*OWN, do.waiting("c"), do.finish("a"), do.vouch(orphaned="b", pids=[70])], call=do.ask("c"),
        verdict="waiting", seats="b", states={"b": "orphaned"}),
    Row("an orphan seen again is no news",
        given=[*OWN, do.vouch(orphaned="a", pids=[70, 71]), do.ask("b"), do.vouch(orphaned="a", pids=[71])],
        call=do.ask("b"), verdict="waiting", jobs={"a": {"pids": [71]}}, events=""),
    Row("an orphan whose processes are gone frees its slot",
        given=[*OWN, do.vouch(orphaned="a", pids=[70]), do.ask("b"), do.vouch(gone="a")], call=do.ask("b"),
        verdict="granted", gone="a", seats="b"),
    Row("a slot passes to a living job inside it when its holder is gone",
        given=[*OWN, do.enqueue("c", parent="a"), do.vouch(gone="a")], call=do.ask("b"), verdict="waiting",
        seats="c", events="job_lost job_inherited", check=lambda _, after: set(after.jobs) == {"b", "c"}),
    Row("another process id than the board knows changes nothing",
        given=[*OWN, do.vouch(gone="a", wrong={"pid": 9})], call=do.sweep(), verdict="swept", same=True),
    Row("another start time than the board knows changes nothing",
        given=[*OWN, do.vouch(gone="a", wrong={"start": "9"})], call=do.sweep(), verdict="swept", same=True),
    Row("another instance than the board knows changes nothing",
        given=[*OWN, do.vouch(gone="a", wrong={"instance": "9"})], call=do.sweep(), verdict="swept", same=True),
    Row("another kind than the board knows changes nothing",
        given=[*OWN, do.vouch(gone="a", wrong={"kind": "session"})], call=do.sweep(), verdict="swept", same=True),
    Row("a job that the board does not know changes nothing",
        given=[*OWN, do.vouch(gone="z")], call=do.sweep(), verdict="swept", same=True),
    Row("a forged life renews nothing",
        given=[*OWN, do.step(2000), do.vouch(live="a", wrong={"start": "9"})], call=do.sweep(), verdict="swept",
        same=True),
)  # fmt: skip
def test_vouch(world: World, row: Row) -> None:
    """What the caller saw in its process table holds, before anything else, for the very process it looked at."""
    row.play(world)


@table(
    Row("a grant is held for 5 s",
        given=[do.running("a"), do.waiting("b", "c"), do.finish("a"), do.step(4999)], call=do.sweep(),
        verdict="swept", seats="b"),
    Row("an unconfirmed grant goes to the next; who had it is away and a suspect",
        given=[do.running("a"), do.waiting("b", "c"), do.finish("a"), do.step(2500), do.ask("c"), do.step(2500)],
        call=do.sweep(), verdict="swept", seats="c", states={"b": "away", "c": "granted"}, suspects="b",
        events="job_away job_granted"),
    Row("an unconfirmed grant of another machine is away without being named",
        given=[do.running("a"), do.waiting("b", on="m2"), do.finish("a"), do.step(5000)], call=do.sweep(),
        verdict="swept", states={"b": "away"}, suspects=""),
    Row("tombstones are kept for an hour",
        given=[do.running("a"), do.finish("a"), do.step(HOUR - 1)], call=do.sweep(), verdict="swept",
        ended={"a": {"how": "finished"}}),
    Row("tombstones older than an hour are gone",
        given=[do.running("a"), do.finish("a"), do.step(HOUR)], call=do.sweep(), verdict="swept",
        check=lambda _, after: after.ended == {} and after.ended_at == {}),
    Row("of old tombstones a hundred go at a time",
        given=[do.running("a"), do.seed("HSET", "ENDED", *[word for n in range(150) for word in (n, "{}")]),
               do.seed("ZADD", "ENDED_AT", *[word for n in range(150) for word in (n, n)])],
        call=do.ask("a"), verdict="granted",
        check=lambda _, after: sorted(map(int, after.ended)) == [*range(100, 150)]),
)  # fmt: skip
def test_lapses(world: World, row: Row) -> None:
    """An unconfirmed grant lapses after 5 s, a tombstone after an hour."""
    row.play(world)


AWAKE = [do.running("a", on="m2"), do.waiting("b"), do.pass_by(2, "b"), do.beat("a", on="m2")]


@table(
    Row("after a gap leases move on by it, so nobody lapses for what the server missed",
        given=[*AWAKE, do.step(60_000)], call=do.sweep(), verdict="swept", seats="a",
        lease={"a": 10_000, "b": 10_000}, meta={"movedAt": str(START + 62_000)}),
    Row("a pause of half a lease is none",
        given=[*AWAKE, do.step(5000)], call=do.sweep(), verdict="swept", lease={"a": 5000, "b": 5000},
        meta={"movedAt": None}),
    Row("a gap is moved over once between two beats, else no-wait runs would keep the dead alive",
        given=[*AWAKE, do.step(60_000), do.sweep(), do.step(9999)], call=do.sweep(), verdict="swept",
        lease={"a": 1, "b": 1}, seats="a"),
    Row("who has not come back a lease after the gap lapses",
        given=[*AWAKE, do.step(60_000), do.sweep(), do.step(10_000)], call=do.sweep(), verdict="swept", gone="a",
        seats="", states={"b": "away"}),
    Row("after a beat the next gap is moved over again",
        given=[*AWAKE, do.step(60_000), do.sweep(), do.step(1000), do.ask("b"), do.step(60_000)], call=do.sweep(),
        verdict="swept", lease={"a": 9000, "b": 10_000}, seats="a"),
    Row("a grant's 5 s move on with the gap",
        given=[do.running("a"), do.waiting("b", "c"), do.beat("a"), do.finish("a"), do.step(60_000)],
        call=do.sweep(), verdict="swept", seats="b",
        check=lambda _, after: after.deadlines == {"grant|b": START + 65_000}),
    Row("an enqueue is no beat: it does not hide a gap",
        given=[*AWAKE, do.step(4000), do.enqueue("c", wait=False), do.step(4000)], call=do.sweep(),
        verdict="swept", lease={"a": 10_000}),
)  # fmt: skip
def test_gap(world: World, row: Row) -> None:
    """When nobody beat for half a lease everything timed moves on by that gap, once between two beats of anybody."""
    row.play(world)


@table(
    Row("set back by up to a second the clock stands",
        given=[*AWAKE, do.step(-1000)], call=do.sweep(), verdict="swept", fields={"now": START + 2000},
        meta={"lastOp": str(START + 2000)}, lease={"a": 11_000}),
    Row("set back by more everything timed moves back with it",
        given=[*AWAKE, do.step(-HOUR)], call=do.sweep(), verdict="swept", fields={"now": START + 2000 - HOUR},
        lease={"a": 10_000, "b": 10_000}, meta={"lastBeat": str(START + 2000 - HOUR)}),
    Row("a grant's 5 s move back with it",
        given=[do.running("a"), do.waiting("b"), do.finish("a"), do.step(-HOUR)], call=do.sweep(),
        verdict="swept", check=lambda _, after: after.deadlines == {"grant|b": START - HOUR + 5000}),
    Row("a settling board settles no longer for it",
        given=[do.unknown_before(), do.enqueue("a"), do.step(-HOUR)], call=do.sweep(), verdict="swept",
        fields={"settleMs": 3000}),
    Row("after it time goes on as usual",
        given=[*AWAKE, do.step(-HOUR), do.sweep(), do.step(9999)], call=do.sweep(on="m2"), verdict="swept",
        seats="a", meta={"movedAt": str(START + 2000 - HOUR + 9999)}),
    Row("the moment of the last move goes back too",
        given=[*AWAKE, do.step(60_000), do.sweep(), do.step(-HOUR)], call=do.sweep(), verdict="swept",
        meta={"movedAt": str(START + 62_000 - HOUR)}),
)  # fmt: skip
def test_clock_set_back(world: World, row: Row) -> None:
    """A clock set back makes nobody lapse late or early."""
    row.play(world)


NEW = [do.unknown_before(), do.listen("a", "b"), do.enqueue("a"), do.enqueue("b")]


def epoch_of(name: str) -> dict[str, str]:
    return {"epoch": f"epoch of {name}"}


@table(
    Row("a new board settles for 3 s",
        given=[*NEW, do.step(2999)], call=do.sweep(), verdict="swept", fields={"settleMs": 1}, seats="",
        line="a b", same=True),
    Row("when it has settled the line is served",
        given=[*NEW, do.step(3000)], call=do.sweep(), verdict="swept", fields={"settleMs": 0}, seats="a",
        line="b", states={"a": "granted"}, events="board_settled job_granted", meta={"settleUntil": "0"}),
    Row("a slot freed while it settles is not handed on yet",
        given=[*NEW, do.register("r"), do.finish("r")], call=do.ask("a"), verdict="waiting", seats="", line="a b"),
    Row("who is gone is dropped while it settles too",
        given=[*NEW, do.vouch(gone="a")], call=do.sweep(), verdict="swept", gone="a", line="b", seats=""),
    Row("who knows that nothing can be running need not wait",
        given=[do.sweep()], call=do.enqueue("a"), verdict="granted", seats="a"),
    Row("the epoch is the first caller's and stays",
        given=[do.sweep(on="m2")], call=do.enqueue("a"), verdict="granted", fields=epoch_of("m2"),
        meta=epoch_of("m2")),
    Row("a flush is a new board with a new epoch, told to all",
        given=[do.running("a", on="m2"), do.subscribe("epoch"), do.flush()], call=do.sweep(), verdict="swept",
        fields=epoch_of("m1"), heard={"epoch": "epoch of m1"}),
)  # fmt: skip
def test_settling(world: World, row: Row) -> None:
    """A new board grants nothing until everybody alive has had time to come back."""
    row.play(world)


def test_a_lost_script_cache_is_no_fault(world: World) -> None:
    """After SCRIPT FLUSH the next call brings the script along."""
    world.running("a")
    world.scope.admin.call("SCRIPT", "FLUSH")
    assert world.beat("a").verdict == "running"


def test_everything_that_was_seen_is_told_once(world: World) -> None:
    """What was vouched for goes with one call and is not said again with the next."""
    world.running("a")
    world.vouch(live="a")
    world.step(1000)
    world.sweep()
    before = world.seen().leases
    world.step(1000)
    world.sweep()
    assert world.seen().leases == before
