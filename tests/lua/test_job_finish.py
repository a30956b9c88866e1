"""lua/job_finish.lua: ending a job and handing its slot on."""

from __future__ import annotations

from typing import Any

from tests.lua.table import Row, table
from tests.lua.world import PlainBoard, Step, World, do

FENCE, NEXT = "1800000000000000", "1800000000000001"


@table(
    Row("the slot is given back and nothing stays but a tombstone",
        given=[do.running("a"), do.step(1500)], call=do.finish("a", outcome="failed", code=3, leftovers="7 gradle"),
        verdict="released", gone="a", seats="", events="job_finished",
        ended={"a": {"how": "finished", "outcome": "failed", "code": 3, "at": 1_800_000_001_500, "queue": "q"}},
        check=lambda _, after: after.events[-1][1].items() >= {
            "ranMs": "1500", "outcome": "failed", "code": "3", "signal": "", "leftovers": "7 gradle",
            "fence": FENCE}.items()),
    Row("asked again with the same token it is released and nothing changes",
        given=[do.running("a"), do.finish("a")], call=do.finish("a"), verdict="released", same=True),
    Row("asked again when others wait it frees nothing of theirs",
        given=[do.running("a"), do.waiting("b", "c"), do.finish("a")], call=do.finish("a"), verdict="released",
        seats="b", line="c", same=True),
    Row("the signal that ended it is kept",
        given=[do.running("a")], call=do.finish("a", outcome="signal", code=None, signal=9), verdict="released",
        ended={"a": {"outcome": "signal", "signal": 9, "code": None}}),
    Row("who asked to kill it is kept",
        given=[do.running("a"), do.cancel("a", by="ann", reason="r", kill=True)],
        call=do.finish("a", outcome="killed"), verdict="released", ended={"a": {"outcome": "killed", "by": "ann"}}),
    Row("a grant may be given back unconfirmed",
        given=[do.running("a"), do.waiting("b", "c"), do.finish("a")], call=do.finish("b"), verdict="released",
        gone="b", seats="c", states={"c": "granted"}),
    Row("another process cannot end it",
        given=[do.running("a")], call=do.finish("a", instance="other"), verdict="notYours", stale=True),
    Row("another fence cannot end it",
        given=[do.running("a")], call=do.finish("a", "1"), verdict="notYours", stale=True),
    Row("a job that waits has nothing to end",
        given=[do.running("a"), do.waiting("b")], call=do.finish("b", FENCE), verdict="notYours", stale=True),
    Row("after its end another process is told that it was not its job",
        given=[do.running("a"), do.finish("a")], call=do.finish("a", instance="other"), verdict="notYours",
        stale=True),
    Row("after its end another fence is told that it has ended",
        given=[do.running("a"), do.finish("a")], call=do.finish("a", "1"), verdict="expired",
        fields={"how": "finished", "at": 1_800_000_000_000}, stale=True),
    Row("a job that was lost is told so",
        given=[do.running("a"), do.vouch(gone="a"), do.sweep()], call=do.finish("a"), verdict="expired",
        fields={"how": "lost", "cause": "its process is gone"}, stale=True),
    Row("a job that was never there is unknown",
        given=[do.running("a")], call=do.finish("z", FENCE), verdict="unknown", same=True),
    Row("an hour later nobody knows it any more",
        given=[do.running("a"), do.finish("a"), do.step(3_600_000), do.sweep()], call=do.finish("a", FENCE),
        verdict="unknown", ended={}),
    Row("a board made by a newer omp-coord is left alone",
        given=[do.running("a"), do.seed("HSET", "META", "schema", "2")], call=do.finish("a"),
        verdict="newerSchema", fields={"schema": "2"}, same=True),
)  # fmt: skip
def test_verdicts(world: World, row: Row) -> None:
    """Only the token of the very grant gives a slot back, once; everybody else changes nothing and is told why."""
    row.play(world)


DEAD = [f"dead{n}" for n in range(10)]


@table(
    Row("the first in line is granted the slot in the same step and woken",
        given=[do.running("a"), do.waiting("b", "c")], call=do.finish("a"), verdict="released",
        seats="b", line="c", states={"b": "granted", "c": "waiting"}, heard={"b": f"granted b {NEXT}", "c": ""},
        events="job_finished job_granted",
        check=lambda _, after: after.deadlines == {"grant|b": 1_800_000_005_000}),
    Row("one slot wakes exactly one",
        given=[do.running("a"), do.waiting(*"bcdefg")], call=do.finish("a"), verdict="released",
        heard={"b": f"granted b {NEXT}", "c": "", "d": "", "g": ""}, line="c d e f g"),
    Row("a waiter that does not listen is passed over and named; its ticket is kept",
        given=[do.running("a"), do.enqueue("b"), do.waiting("c")], call=do.finish("a"), verdict="released",
        seats="c", line="", states={"b": "away", "c": "granted"}, suspects="b",
        events="job_finished job_away job_granted", jobs={"b": {"ticket": "1800000000000002", "fence": None}}),
    Row("an owner that was passed over once still has its turn with its next job",
        given=[do.running("a"), do.enqueue("b"), do.waiting("c", owner="z"), do.waiting("d")],
        call=do.finish("a"), verdict="released", seats="c", line="d", states={"b": "away"}),
    Row("ten dead waiters at the head cost one step",
        given=[do.running("a"), *[do.enqueue(job) for job in DEAD], do.waiting("b")], call=do.finish("a"),
        verdict="released", seats="b", line="", suspects=" ".join(DEAD),
        states={"b": "granted", **dict.fromkeys(DEAD, "away")}),
    Row("where listeners cannot be counted a silent waiter is granted and has its 5 s",
        given=[do.running("a"), do.enqueue("b")], call=do.finish("a", single=""), verdict="released",
        seats="b", states={"b": "granted"}, suspects=""),
    Row("a waiter whose lease has lapsed is passed over, though it listens",
        given=[do.running("a"), do.waiting("b", "c"), do.pass_by(10, "a", "c")], call=do.finish("a"),
        verdict="released", seats="c", states={"b": "away"}, suspects="b"),
    Row("nobody waits: nothing else happens",
        given=[do.policy("p", q={"slots": 2}), do.running("a", "b")], call=do.finish("a"), verdict="released",
        seats="b", events="job_finished"),
    Row("another queue's line is left alone",
        given=[do.running("a"), do.running("x", queue="r"), do.waiting("b")], call=do.finish("x"),
        verdict="released", seats="a", line="b"),
)  # fmt: skip
def test_hand_over(world: World, row: Row) -> None:
    """Who frees a slot grants it in the same step to the next that listens, and wakes exactly that one."""
    row.play(world)


LOWERED = [
    do.policy("p", q={"slots": 3}), do.policy("low", q={"slots": 1}), do.running("a", "b", "c"),
    do.waiting("d", policy="low"),
]  # fmt: skip


@table(
    Row("with a cap lowered below what runs nothing is granted until it is under",
        given=LOWERED, call=do.finish("a"), verdict="released", seats="b c", line="d"),
    Row("under the lowered cap the line is served again",
        given=[*LOWERED, do.finish("a"), do.finish("b")], call=do.finish("c"), verdict="released", seats="d"),
    Row("the end of the only job with the stricter policy serves the line at once",
        given=[do.policy("p", q={"slots": 3}), do.policy("low", q={"slots": 1}), do.running("a", policy="low"),
               do.waiting("b", "c", "d", "e")],
        call=do.finish("a"), verdict="released", seats="b c d", line="e", policies="p",
        limits={"effective": 3, "limitedBy": None}),
    Row("the last policy stays until another one comes",
        given=[do.running("a")], call=do.finish("a"), verdict="released", policies="p", limits={"slots": 1}),
)  # fmt: skip
def test_policies(world: World, row: Row) -> None:
    """A lowered cap stops new grants; what holds no more because its last user went serves the line."""
    row.play(world)


INSIDE = [do.running("a"), do.enqueue("b", parent="a"), do.enqueue("c", parent="a"), do.waiting("w")]


@table(
    Row("a slot passes to the first that runs inside it",
        given=INSIDE, call=do.finish("a"), verdict="released", seats="b", line="w",
        jobs={"b": {"inside": None}, "c": {"inside": "b"}}, events="job_finished job_inherited"),
    Row("a job that ran inside ends and the holder keeps the slot",
        given=INSIDE, call=do.finish("c"), verdict="released", seats="a", line="w", gone="c"),
    Row("the slot is given back when all inside it have ended",
        given=[*INSIDE, do.finish("a"), do.finish("c")], call=do.finish("b"), verdict="released", seats="w",
        check=lambda _, after: after.nest == []),
    Row("an heir that ends passes it on again",
        given=[*INSIDE, do.finish("a")], call=do.finish("b"), verdict="released", seats="c",
        jobs={"c": {"inside": None}}),
    Row("a child's own slot of another queue is its own",
        given=[do.running("a"), do.running("x", queue="r", parent="a"), do.waiting("w")], call=do.finish("a"),
        verdict="released", seats="w", states={"x": "running"}),
)  # fmt: skip
def test_nested(world: World, row: Row) -> None:
    """A slot is always held by a living job, and given back when all inside it have ended."""
    row.play(world)


def waits(text: str) -> list[Step]:
    """Steps that let jobs wait: "b/ann c/bob@lane" is job, owner, lane."""
    steps: list[Step] = []
    for item in text.split():
        job, _, rest = item.partition("/")
        owner, _, lane = rest.partition("@")
        steps.append(do.waiting(job, owner=owner or "o", lane=lane or "default"))
    return steps


class Order:
    """Who waits, under which rules of queue q, and in which order they get their slots."""

    def __init__(self, id_: str, queue: dict[str, object], waiting: str, order: str) -> None:
        self.id, self.queue, self.waiting, self.order = id_, queue, waiting, order


def fair(**more: object) -> dict[str, object]:
    return {"slots": 1, "order": "fair-share", **more}


PRIORITIES = {"hi": {"priority": 5}, "lo": {"priority": -5}}
ORDERS = [
    Order("fifo is the order of tickets, whoever asks", {"slots": 1}, "b/x c/x d/y", "b c d"),
    Order("of lanes with one priority the earliest ticket is first", {"slots": 1, "lanes": {"l": {}}},
          "b/x@l c/x d/x@l", "b c d"),
    Order("higher priority goes first, lower last", {"slots": 1, "lanes": PRIORITIES},
          "b/x@lo c/x d/x@hi e/x@hi", "d e c b"),
    Order("two slots are handed on in the same order", {"slots": 2}, "b/x c/x d/x e/x", "b c d e"),
    Order("fair share takes turns between owners, each by ticket", fair(), "b/x c/x d/x e/y f/y", "b e c f d"),
    Order("one owner's backlog does not starve another's single job", fair(),
          " ".join(f"b{n}/x" for n in range(9)) + " z/y", "b0 z " + " ".join(f"b{n}" for n in range(1, 9))),
    Order("who was never served goes before who was", fair(), "b/a c/x", "c b"),
    Order("under fair share, too, higher priority goes first", fair(lanes=PRIORITIES),
          "b/x@lo c/x d/y e/x@hi f/x@hi", "e f d c b"),
    Order("an owner's turn counts in all its lanes", fair(lanes={"l": {}}), "b/x@l c/x d/y", "b d c"),
    Order("with two slots the owner with fewer running goes first", fair(slots=2), "b/x c/x d/y e/y", "b d c e"),
]  # fmt: skip


def case(order: Order) -> Row:
    """The row that fills all slots (by owner a), lets the others wait and then ends whatever runs, one by one."""
    slots = range(int(str(order.queue["slots"])))
    given = [do.policy("p", q=order.queue), *[do.running(f"first{n}", owner="a") for n in slots]]
    return Row(order.id, given=[*given, *waits(order.waiting)], call=lambda w: _drained(w, order.order),
               verdict="released", seats="", line="")  # fmt: skip


def _drained(world: World, order: str) -> object:
    assert world.drain() == order
    return world.finish(order.rsplit(maxsplit=1)[-1])


@table(*[case(order) for order in ORDERS])
def test_order(world: World, row: Row) -> None:
    """Slots go by priority; then by ticket, or (fair share) to who has fewest running and was served longest ago."""
    row.play(world)


def test_many_owners_waiting_do_not_reach_beyond_the_newest_served(world: World) -> None:
    """Of owners' last grants the newest 10,000 are kept, so a board of many terminals does not grow for ever."""
    world.checked = False
    world.running("a")
    pairs = [word for n in range(10_000) for word in (n, f"q|idle{n}")]
    world.seed("ZADD", "SERVED", *pairs)
    world.seed("ZREM", "SERVED", "q|idle9999")
    world.finish("a")
    assert len(world.seen().served) == 10_000
    world.running("b", owner="new")
    served = world.seen().served
    assert len(served) == 10_000
    assert "q|idle0" not in served
    assert "q|new" in served


def test_tombstones_are_no_more_than_ten_thousand(world: World) -> None:
    """The newest 10,000 ends are remembered; the oldest is forgotten when another one comes."""
    world.checked = False
    world.running("a")
    world.seed("HSET", "ENDED", *[word for n in range(10_000) for word in (f"old{n}", "{}")])
    world.seed("ZADD", "ENDED_AT", *[word for n in range(10_000) for word in (world.clock.ms - 10_000 + n, f"old{n}")])
    world.finish("a")
    seen = world.seen()
    assert len(seen.ended) == len(seen.ended_at) == 10_000
    assert "old0" not in seen.ended
    assert {"old1", "a"} <= set(seen.ended)


def test_fences_strictly_increase_in_the_order_of_grants(world: World) -> None:
    """Every grant has a larger fence than all before it, whatever the clock does."""
    fences = []
    for n, step in enumerate([0, 0, 1, -5000, -900, 60_000]):
        world.step(step)
        answer = world.enqueue(f"j{n}")
        fences.append(answer.fields["fence"])
        world.finish(f"j{n}")
    assert fences == sorted(set(fences))


def test_an_endless_log_is_cut(world: World) -> None:
    """The log keeps its newest 100,000 events and says in itself which ones it dropped."""
    world.checked = False
    world.running("a")
    events = world.scope.keys["EVENTS"]
    admin: Any = world.scope.admin
    (first, _), *_ = admin.call("XRANGE", events, "-", "+", "COUNT", 1)
    fill = "for n = 1, 101000 do redis.call('XADD', KEYS[1], '*', 'n', n) end"
    admin.call("EVAL", fill, 1, events, timeout=20)
    world.scope.board(kind=PlainBoard).job_finish("a", "a", FENCE, "ok")
    (kept, _), *_ = admin.call("XRANGE", events, "-", "+", "COUNT", 1)
    ((_, last),) = admin.call("XREVRANGE", events, "+", "-", "COUNT", 1)
    assert admin.call("XLEN", events) == 100_001
    said = dict(zip(last[::2], last[1::2], strict=True))
    assert said == {"type": "events_trimmed", "at": "1800000000000", "count": "1005", "from": first, "to": kept}
