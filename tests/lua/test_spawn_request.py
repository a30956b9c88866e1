"""lua/spawn_request.lua: may this session start an agent?"""

from __future__ import annotations

import json

from coord.answers import Answer
from tests.lua.table import Row, table
from tests.lua.world import World, do

ST = [do.join("s"), do.join("t")]
FULL = [*ST, do.runs("s", "X", "Y")]
T_WAITS = [*FULL, do.spawn("t", "t1")]
T_HELD = [*T_WAITS, do.ends("s", "X")]
"""Of two slots s runs Y in one, the other is kept for t."""

ONE = do.pools("w", work=1)
NESTED = do.pools("w", work=1, exempt=("scout",), nested=("scout", "rev*"), most=2)
NEST = [NESTED, do.join("s"), do.runs("s", "X")]


def holders(**numbers: int) -> object:
    """The holders of a refusal by letter, the most first."""
    wanted = [{"label": label, "n": n} for label, n in numbers.items()]
    return lambda said: json.loads(said) == wanted


@table(
    Row("a spawn that fits is approved: its slot is starting and counts at once",
        given=[do.join("s")], call=do.spawn("s", "s1", key="X"), verdict="approved",
        fields={"pool": "work", "used": "0", "cap": "2", "unqueued": "", "allowance": "2", "why": ""},
        slots="s1:starting", used={"work": 1}, events="spawn_approved", due={"start|s1": 120_000},
        slot={"s1": {"session": "s", "agent": "X", "parent": "Main", "kind": "main", "type": "task", "pool": "work",
                     "since": 1_800_000_000_000, "unqueued": None}}),
    Row("without a key the agent's id is not known yet",
        given=[do.join("s")], call=do.spawn("s", "s1"), verdict="approved", slot={"s1": {"agent": None}}),
    Row("one of eval is marked from here on",
        given=[do.join("s")], call=do.spawn("s", "s1", key="X", invocation="eval"), verdict="approved",
        fields={"unqueued": "eval"}, slot={"s1": {"unqueued": "eval"}}),
    Row("how long a start may take is the session's own policy's",
        given=[do.pools("w", work=1, start_ms=7000), do.join("s")], call=do.spawn("s", "s1"), verdict="approved",
        due={"start|s1": 7000}),
    Row("the last slot is approved",
        given=[*ST, do.runs("s", "X")], call=do.spawn("t", "t1"), verdict="approved", fields={"used": "1"},
        used={"work": 2}),
    Row("asked again because the answer was lost it is approved as before, also when the pool is full now",
        given=[*ST, do.runs("s", "X"), do.spawn("t", "t1")], call=do.spawn("t", "t1"), verdict="approved",
        fields={"used": "2"}, events="", used={"work": 2}),
    Row("asked again while paused it is approved as before",
        given=[do.join("s"), do.spawn("s", "s1", invocation="eval"), do.pause()], call=do.spawn("s", "s1"),
        verdict="approved", fields={"unqueued": "eval"}, events=""),
    Row("one over the cap is refused and its session stands in line, once",
        given=FULL, call=do.spawn("t", "t1"), verdict="refused",
        fields={"cause": "full", "pool": "work", "used": "2", "cap": "2", "place": "1", "holders": holders(A=2),
                "allowed": "", "allowance": "", "why": "others"},
        lines={"work": "t"}, holds={"work": ""}, used={"work": 2}, events="line_joined spawn_refused"),
    Row("refused again it keeps its place",
        given=[*T_WAITS, do.spawn("s", "s3")], call=do.spawn("t", "t2"), verdict="refused", fields={"place": "1"},
        lines={"work": "t s"}, events="spawn_refused"),
    Row("the next to be refused stands behind it",
        given=[*T_WAITS, do.join("u")], call=do.spawn("u", "u1"), verdict="refused",
        fields={"place": "2", "holders": holders(A=2)}, lines={"work": "t u"}),
    Row("who holds the slots is told, the most first",
        given=[do.pools("w", work=3), *ST, do.runs("t", "P", "Q"), do.runs("s", "X")], call=do.spawn("s", "s9"),
        verdict="refused", fields={"holders": holders(B=2, A=1)}),
    Row("the session's own slots count like any other's",
        given=[ONE, do.join("s"), do.runs("s", "X")], call=do.spawn("s", "s2"), verdict="refused",
        fields={"cause": "full", "place": "1", "holders": holders(A=1)}, lines={"work": "s"}),
    Row("a slot counts while it starts, runs and ends",
        given=[do.pools("w", work=3), *ST, do.spawn("s", "s1"), do.runs("s", "X", "Y"), do.stopped("s", "Y")],
        call=do.spawn("t", "t1"), verdict="refused", fields={"cause": "full", "used": "3"}),
    Row("a pool of no slots refuses",
        given=[do.pools("w", work=0), do.join("s")], call=do.spawn("s", "s1"), verdict="refused",
        fields={"cause": "full", "cap": "0", "holders": "[]"}),
    Row("pools do not share their slots",
        given=[do.pools("w", work=1, read={"cap": 1, "types": ["scout"]}), do.join("s"), do.runs("s", "X")],
        call=do.spawn("s", "s1", type="scout"), verdict="approved", fields={"pool": "read"},
        used={"work": 1, "read": 1}),
    Row("a session that the board does not know has to join",
        given=FULL, call=do.spawn("z", "z1"), verdict="unknown", same=True),
    Row("a board made by a newer omp-coord is left alone",
        given=[do.join("s"), do.seed("HSET", "META", "schema", "2")], call=do.spawn("s", "s1"),
        verdict="newerSchema", fields={"schema": "2"}, same=True),
)  # fmt: skip
def test_verdicts(world: World, row: Row) -> None:
    """A spawn that fits takes a slot; one over the cap is refused, told why, and its session waits in line."""
    row.play(world)


@table(
    Row("the holder's spawn uses the hold up, and its ticket goes",
        given=T_HELD, call=do.spawn("t", "t2"), verdict="approved", fields={"used": "1"}, holds={"work": ""},
        lines={"work": ""}, used={"work": 2}, events="hold_used spawn_approved", due={"start|t2": 120_000}),
    Row("others are refused meanwhile: free minus held is what they may take",
        given=T_HELD, call=do.spawn("s", "s9"), verdict="refused",
        fields={"cause": "held", "used": "1", "cap": "2", "place": "2", "holders": holders(A=1)},
        lines={"work": "t s"}, holds={"work": "t"}),
    Row("what is free beside the holds anybody may take",
        given=[do.pools("w", work=3), *ST, do.runs("s", "X", "Y", "Z"), do.spawn("t", "t1"), do.ends("s", "X", "Y")],
        call=do.spawn("s", "s9"), verdict="approved", holds={"work": "t"}, used={"work": 2}),
    Row("the holder's second spawn is like any other's",
        given=[*T_HELD, do.spawn("t", "t2")], call=do.spawn("t", "t3"), verdict="refused",
        fields={"cause": "full", "place": "1"}, lines={"work": "t"}),
    Row("with one free slot beside its hold the holder takes its hold first",
        given=[do.pools("w", work=3), *ST, do.runs("s", "X", "Y", "Z"), do.spawn("t", "t1"), do.ends("s", "X", "Y")],
        call=do.spawn("t", "t2"), verdict="approved", holds={"work": ""}, lines={"work": ""},
        events="hold_used spawn_approved"),
    Row("a hold is for its pool only",
        given=[do.pools("w", work=1, read={"cap": 1, "types": ["scout"]}), *ST, do.runs("s", "X"),
               do.spawn("t", "t1"), do.spawn("s", "s2", type="scout"), do.ends("s", "X")],
        call=do.spawn("t", "t2", type="scout"), verdict="refused", fields={"pool": "read", "place": "1"},
        holds={"work": "t", "read": ""}, lines={"work": "t", "read": "t"}),
)  # fmt: skip
def test_holds(world: World, row: Row) -> None:
    """A freed slot that is kept for a session is for nobody else."""
    row.play(world)


@table(
    Row("a spawn that would be refused settles its session's own ending slot",
        given=[*FULL, do.stopped("s", "X")], call=do.spawn("s", "s3"), verdict="approved", fields={"used": "1"},
        slots="s-Y:running s3:starting", events="run_ended spawn_approved", due={"start|s3": 120_000}),
    Row("the oldest first, as many as it needs",
        given=[do.join("s"), do.runs("s", "Y"), do.step(1), do.runs("s", "X"), do.stopped("s", "Y"),
               do.stopped("s", "X")],
        call=do.spawn("s", "s3"), verdict="approved", slots="s-X:ending s3:starting"),
    Row("as many as it needs may be more than one",
        given=[do.join("s"), do.runs("s", "X", "Y"), do.started("s", "Z"), do.stopped("s", "X"),
               do.stopped("s", "Y")],
        call=do.spawn("s", "s3"), verdict="approved", slots="new-Z:running s3:starting"),
    Row("one that fits settles nothing",
        given=[do.join("s"), do.runs("s", "X"), do.stopped("s", "X")], call=do.spawn("s", "s3"), verdict="approved",
        slots="s-X:ending s3:starting", events="spawn_approved"),
    Row("another session's ending slot is not settled for it",
        given=[*FULL, do.stopped("s", "X")], call=do.spawn("t", "t1"), verdict="refused", fields={"cause": "full"},
        slots="s-X:ending s-Y:running"),
    Row("an ending slot of another pool is not settled for it",
        given=[do.pools("w", work=1, read={"cap": 1, "types": ["scout"]}), do.join("s"), do.runs("s", "X"),
               do.runs("s", "P", type="scout"), do.stopped("s", "P")],
        call=do.spawn("s", "s3"), verdict="refused", slots="s-X:running s-P:ending"),
    Row("its place in line goes when it is approved that way",
        given=[ONE, do.join("s"), do.runs("s", "X"), do.spawn("s", "s2"), do.stopped("s", "X")],
        call=do.spawn("s", "s3"), verdict="approved", lines={"work": ""},
        events="run_ended line_left spawn_approved"),
)  # fmt: skip
def test_settling_of_own_ending_slots(world: World, row: Row) -> None:
    """A run that has just ended keeps nothing from its own session."""
    row.play(world)


PAUSED = [*ST, do.pause()]


@table(
    Row("a counted spawn is refused and stands in line, though slots are free",
        given=PAUSED, call=do.spawn("s", "s1"), verdict="refused",
        fields={"cause": "paused", "used": "0", "place": "1", "allowance": "", "why": "paused"},
        lines={"work": "s"}, holds={"work": ""}, events="line_joined spawn_refused"),
    Row("an exempt one is refused and makes no ticket",
        given=[do.pools("w", work=2, exempt=("scout",)), *PAUSED], call=do.spawn("s", "s1", type="scout"),
        verdict="refused", fields={"cause": "paused", "place": "", "pool": ""}, lines={"work": ""}),
    Row("a nested one is refused and makes no ticket",
        given=[*NEST, do.pause()], call=do.spawn("s", "s1", type="scout", parent="X"), verdict="refused",
        fields={"cause": "paused", "place": ""}, lines={"work": ""}),
    Row("a pause settles no ending slot",
        given=[*NEST, do.runs("s", "P", "Q", type="scout", parent="X"), do.stopped("s", "P"), do.pause()],
        call=do.spawn("s", "s1", type="scout", parent="X"), verdict="refused", fields={"cause": "paused"},
        slots="s-X:running s-P:ending s-Q:running"),
    Row("the holder is refused too and keeps its hold and its place",
        given=[*T_HELD, do.pause()], call=do.spawn("t", "t2"), verdict="refused",
        fields={"cause": "paused", "place": "1"}, holds={"work": "t"}, lines={"work": "t"}, events="spawn_refused"),
    Row("the holder has its slot when the pause is over",
        given=[*T_HELD, do.pause(), do.spawn("t", "t2"), do.resume()], call=do.spawn("t", "t3"), verdict="approved",
        holds={"work": ""}, lines={"work": ""}),
)  # fmt: skip
def test_paused(world: World, row: Row) -> None:
    """While the scope is paused every spawn is refused, also exempt and nested ones."""
    row.play(world)


SETTLES = [do.unknown_before(), do.join("s"), do.join("t")]


@table(
    Row("a counted spawn waits in line, though slots are free",
        given=SETTLES, call=do.spawn("s", "s1"), verdict="refused",
        fields={"cause": "settling", "place": "1", "settleMs": "3000"}, lines={"work": "s"}, holds={"work": ""}),
    Row("an exempt one waits as well: nothing is approved, and there is no line for it",
        given=[do.pools("w", work=2, exempt=("scout",)), *SETTLES], call=do.spawn("s", "s1", type="scout"),
        verdict="refused", fields={"cause": "settling", "place": ""}),
    Row("a nested one waits as well",
        given=[do.unknown_before(), NESTED, do.join("s")], call=do.spawn("s", "s1", type="scout", parent="X"),
        verdict="refused", fields={"cause": "settling"}),
    Row("when the board has settled it is approved",
        given=[*SETTLES, do.spawn("s", "s1"), do.step(3000)], call=do.spawn("s", "s1"), verdict="approved",
        lines={"work": ""}, events="board_settled hold_given hold_used spawn_approved"),
    Row("the line is served in ticket order when the board has settled",
        given=[ONE, *SETTLES, do.spawn("t", "t1"), do.spawn("s", "s1"), do.step(3000)], call=do.spawn("s", "s1"),
        verdict="refused", fields={"cause": "held", "place": "2"}, holds={"work": "t"}),
)  # fmt: skip
def test_settling_board(world: World, row: Row) -> None:
    """A new board approves nothing until whatever runs has had time to say so."""
    row.play(world)


@table(
    Row("a start that comes in time keeps the slot",
        given=[do.pools("w", work=1, start_ms=7000), *ST, do.spawn("s", "s1", key="X"), do.lived(6, "s", "t"),
               do.started("s", "X"), do.lived(4, "s", "t")],
        call=do.spawn("t", "t1"), verdict="refused", slots="s1:running"),
    Row("until the timeout a slot that has not started counts",
        given=[do.pools("w", work=1, start_ms=7000), *ST, do.spawn("s", "s1"), do.lived(6, "s", "t"), do.step(999)],
        call=do.spawn("t", "t1"), verdict="refused", slots="s1:starting"),
    Row("then it is free",
        given=[do.pools("w", work=1, start_ms=7000), *ST, do.spawn("s", "s1"), do.lived(6, "s", "t"), do.step(1000)],
        call=do.spawn("t", "t1"), verdict="approved", slots="t1:starting",
        events="start_timed_out spawn_approved", said={"start_timed_out": {"slot": "s1", "pool": "work"}}),
    Row("and kept for who waits",
        given=[do.pools("w", work=1, start_ms=7000), *ST, do.spawn("s", "s1"), do.spawn("t", "t1"),
               do.lived(6, "s", "t"), do.step(1000)],
        call=do.spawn("s", "s2"), verdict="refused", fields={"cause": "held"}, holds={"work": "t"}),
    Row("start timeouts go on while paused",
        given=[do.pools("w", work=1, start_ms=7000), *ST, do.spawn("s", "s1"), do.pause(), do.lived(6, "s", "t"),
               do.step(1000)],
        call=do.spawn("t", "t1"), verdict="refused", slots="", events="start_timed_out line_joined spawn_refused"),
)  # fmt: skip
def test_start_timeout(world: World, row: Row) -> None:
    """A slot whose agent never starts is free after its time."""
    row.play(world)


def test_every_kind_of_start_is_capped_alone_and_mixed(world: World) -> None:
    """Batch, eval and resumed spawns, of either session, take from one cap: of ten asked at once three are approved."""
    world.pools("w", work=3)
    world.join("s")
    world.join("t")
    kinds = [{}, {"invocation": "eval"}, {"key": "K"}, {"type": "sub"}, {"type": "unheard-of"}]
    answers = [world.spawn("st"[n % 2], f"slot{n}", **kinds[n % 5]) for n in range(10)]
    assert [answer.verdict for answer in answers].count("approved") == 3
    assert len(world.seen().counted("work")) == 3
    assert world.seen().in_line("work") == ["t", "s"]


def test_a_line_of_many_is_served_in_ticket_order(world: World) -> None:
    """Five sessions wait for one slot; each gets its hold in turn, and nobody passes another."""
    world.pools("w", work=1)
    world.join("s")
    world.runs("s", "X")
    order = ["d", "b", "e", "a", "c"]
    for one in order:
        world.join(one)
        assert world.spawn(one, one + "1").fields["place"] == str(order.index(one) + 1)
    world.ends("s", "X")
    for one in order:
        assert world.seen().held_by("work") == [one]
        answer: Answer = world.spawn(one, one + "2")
        assert answer.verdict == "approved"
        world.started(one, one + "-agent")
        world.ends(one, one + "-agent")
    assert world.seen().line == world.seen().holds == []
