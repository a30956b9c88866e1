"""lua/session_join.lua: a session opens, is taken over, or comes back to a board that lost it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.lua.table import Row, table
from tests.lua.test_spawn_request import FULL, NESTED, ONE, ST, T_HELD, T_WAITS
from tests.lua.world import World, do

EARLY, LATE = "1700000000000001", "1700000000000002"
AGAIN = {"host": "host of s", "instance": "again"}


def others(*labels: str) -> object:
    return lambda said: [one["label"] for one in json.loads(said)] == list(labels)


def again(world: World, **options: Any) -> Any:
    """The host process of s opens its session again."""
    return world.join("s2", pid=world.pid("s"), **{**AGAIN, **options})


@table(
    Row("the first is A, and alone",
        call=do.join("s", cwd="/repo"), verdict="joined",
        fields={"session": "s", "label": "A", "alone": "1", "others": "[]", "paused": "", "files": "[]"},
        letters={"A": "s"}, session_lease={"s": 10_000}, events="board_made policy_registered session_joined",
        sessions={"s": {"cwd": "/repo", "machine": "m1", "policy": "w", "hostSession": "host of s", "version": "1",
                        "joined": 1_800_000_000_000, "bridgeLostAt": None,
                        "process": {"pid": 1000, "start": "1", "instance": "s"}}},
        said={"session_joined": {"session": "s", "label": "A", "cwd": "/repo", "machine": "m1", "pid": "1000"}}),
    Row("the next gets the next letter and is told of the others, with their processes",
        given=[do.join("s")], call=do.join("t", on="m2"), verdict="joined",
        fields={"label": "B", "alone": "", "others": lambda said: json.loads(said) == [
            {"kind": "session", "id": "s", "label": "A", "cwd": "/x", "machine": "m1",
             "process": {"pid": 1000, "start": "1", "instance": "s"}, "bridge": {"pid": 6000, "start": "1"}}]},
        letters={"A": "s", "B": "t"}),
    Row("jobs are no other sessions",
        given=[do.enqueue("a", policy="w")], call=do.join("s"), verdict="joined", fields={"alone": "1"}),
    Row("the lowest free letter is given",
        given=[*ST, do.join("u"), do.leave("t")], call=do.join("v"), verdict="joined",
        fields={"label": "B", "others": others("A", "C")}),
    Row("a letter that it had is given back when it is free",
        given=[do.join("s")], call=do.join("t", label="F"), verdict="joined", fields={"label": "F"}),
    Row("one that another has by now is not",
        given=[do.join("s")], call=do.join("t", label="A"), verdict="joined", fields={"label": "B"}),
    Row("others' files are named when their policies differ",
        given=[do.pools("more", work=3), do.join("s", policy="more")], call=do.join("t"), verdict="joined",
        fields={"files": '["more.json"]'}),
    Row("a policy without a file is none that differs",
        given=[do.policy("none", fallback=True, q={"slots": 1}), do.join("s"), do.enqueue("a", policy="none")],
        call=do.join("t"), verdict="joined", fields={"files": "[]"}),
    Row("one whose policy nobody has any more is not named",
        given=[do.pools("more", work=3), do.join("s", policy="more"), do.leave("s")], call=do.join("t"),
        verdict="joined", fields={"files": "[]", "alone": "1"}, policies="w"),
    Row("what runs already at its first open is revived",
        call=do.join("s", agents="X P:scout:X"), verdict="joined", used={"work": 1},
        slots="new-X:running new-P:running", slot={"new X": {"unqueued": "revived"}, "new P": {"pool": None}}),
    Row("who is gone is dropped first, so that alone is true",
        given=[do.join("s"), do.vouch(kind="session", gone="s")], call=do.join("t"), verdict="joined",
        fields={"alone": "1", "label": "A"}, gone="s", events="session_left session_joined"),
    Row("a pool that its policy lowers gets no more from now on",
        given=[*ST, do.pools("less", work=1)], call=do.join("u", policy="less"), verdict="joined",
        pools={"work": {"cap": 1, "effective": 1, "limitedBy": "policy", "highest": 2}}),
    Row("a board made by a newer omp-coord is left alone",
        given=[do.join("s"), do.seed("HSET", "META", "schema", "2")], call=do.join("t"), verdict="newerSchema",
        fields={"schema": "2"}, same=True),
)  # fmt: skip
def test_verdicts(world: World, row: Row) -> None:
    """A session joins with the lowest free letter and learns who else is there."""
    row.play(world)


@pytest.mark.parametrize(("before", "letter"), [(0, "A"), (25, "Z"), (26, "AA"), (27, "AB"), (52, "BA")])
def test_letters_go_on_after_z(world: World, before: int, letter: str) -> None:
    """A…Z, then AA, AB, … ."""
    world.checked = False
    for n in range(before):
        world.join(f"s{n}")
    world.checked = True
    assert world.join("t").fields["label"] == letter


@table(
    Row("its host's process takes the old one over: id, letter, slots",
        given=[*FULL, do.spawn("s", "s3")], call=lambda world: again(world, agents="X Y"), verdict="joined",
        fields={"session": "s", "label": "A"}, letters={"A": "s", "B": "t"}, slots="s-X:running s-Y:running",
        sessions={"s": {"process": {"pid": 1000, "start": "1", "instance": "again"}, "joined": 1_800_000_000_000}},
        lines={"work": "s"}, events="session_reopened",
        said={"session_reopened": {"session": "s", "label": "A", "pid": "1000"}}),
    Row("its place in line",
        given=[*T_WAITS, do.spawn("s", "s3")],
        call=do.join("t2", host="host of t", pid=1001, instance="again"), verdict="joined",
        fields={"session": "t", "label": "B"}, lines={"work": "t s"}),
    Row("and its hold, which goes on ageing",
        given=[*T_HELD, do.step(1000)], call=do.join("t2", host="host of t", pid=1001, instance="again"),
        verdict="joined", holds={"work": "t"}, due={"hold|work|t": 299_000}),
    Row("what was approved and has not started is kept until its timeout",
        given=[do.join("s"), do.spawn("s", "s1", key="X"), do.step(1000)], call=again, verdict="joined",
        slots="s1:starting", due={"start|s1": 119_000}),
    Row("the marks of its agents stay",
        given=[do.join("s"), do.runs("s", "X", invocation="eval")], call=lambda world: again(world, agents="X"),
        verdict="joined", slot={"s-X": {"unqueued": "eval"}}),
    Row("an agent that it does not name is absent once, ended at the second list",
        given=[do.join("s"), do.runs("s", "X", "Y"), again], call=do.sync("s", "Y"), verdict="synced",
        slots="s-Y:running", slot={"s-Y": {"absent": None}}),
    Row("the same join again because the answer was lost is the same session",
        given=[do.join("s")], call=do.join("s"), verdict="joined", fields={"session": "s", "label": "A", "alone": "1"},
        letters={"A": "s"}),
    Row("the old bridge's beats are not its own any more",
        given=[do.join("s"), again], call=do.live("s"), verdict="notYours", same=True),
    Row("a bridge that was lost is back",
        given=[do.join("s"), do.step(5000), do.vouch(kind="session", bridgeless="s"), do.sweep()], call=again,
        verdict="joined", sessions={"s": {"bridgeLostAt": None}}),
    Row("another process of the same host session is another session",
        given=[do.join("s")], call=do.join("t", host="host of s"), verdict="joined",
        fields={"session": "t", "label": "B"}),
    Row("another host session of the same process is another session",
        given=[do.join("s")], call=do.join("t", pid=1000), verdict="joined", fields={"session": "t", "label": "B"}),
    Row("the same process id on another machine is another session",
        given=[do.join("s")], call=do.join("t", pid=1000, host="host of s", on="m2"), verdict="joined",
        fields={"session": "t", "label": "B"}),
    Row("with a changed policy it is that from here on, and the line is served",
        given=[do.pools("more", work=3), *T_WAITS, do.live("t", policy="more")],
        call=lambda world: again(world, policy="more", agents="X Y"), verdict="joined", policies="more",
        holds={"work": "t"}, pools={"work": {"cap": 3, "limitedBy": None}}),
    Row("with a changed policy that the board does not know too",
        given=[do.join("s"), do.pools("less", work=1)], call=lambda world: again(world, policy="less"),
        verdict="joined", policies="less", pools={"work": {"cap": 1}}),
)  # fmt: skip
def test_taken_over(world: World, row: Row) -> None:
    """The same host process with the same host session keeps all it had; nobody else does."""
    row.play(world)


LOST = [*FULL, do.spawn("s", "s3"), do.flush(), do.unknown_before()]


@table(
    Row("with its letter and all that really runs, counted whatever the cap says",
        given=[*LOST, do.pools("w", work=1)], call=do.join("s", label="A", agents="X Y P::X"), verdict="joined",
        fields={"session": "s", "label": "A", "settleMs": "3000"}, used={"work": 2},
        slots="new-X:running new-Y:running new-P:running",
        events="board_made policy_registered session_joined run_started run_started run_started"),
    Row("with its ticket, at the place that it stands for",
        given=[*LOST, do.join("t", label="B", line={"work": LATE})], call=do.join("s", line={"work": EARLY}),
        verdict="joined", lines={"work": "s t"}, holds={"work": ""},
        check=lambda _, after: after.ticket("work", "s") == EARLY),
    Row("tickets from then on are larger than any that came back",
        given=[*LOST, do.join("s", line={"work": "1900000000000000"})], call=do.spawn("t", "t1"), verdict="unknown",
        check=lambda _, after: after.meta["ticket"] >= "1900000000000000"),
    Row("its letter waits for it even when another came first",
        given=[*LOST, do.join("t", label="B")], call=do.join("s", label="A"), verdict="joined",
        fields={"label": "A"}),
    Row("a letter that a newcomer took is lost",
        given=[*LOST, do.join("u")], call=do.join("s", label="A"), verdict="joined", fields={"label": "B"}),
    Row("nothing is promoted until the board has settled",
        given=[*LOST, do.join("s", line={"work": EARLY}), do.step(2999)], call=do.live("s"), verdict="alive",
        holds={"work": ""}),
    Row("then the line is served in ticket order with what the running ones leave",
        given=[*LOST, do.join("t", line={"work": LATE}), do.join("s", agents="X", line={"work": EARLY}),
               do.step(3000)],
        call=do.live("t"), verdict="alive", holds={"work": "s"}, lines={"work": "s t"},
        events="board_settled hold_given"),
    Row("a session whose lease lapsed elsewhere comes back under its id and letter",
        given=[do.join("s", on="m2"), do.join("t"), do.lived(10, "t"), do.live("t")],
        call=do.join("s", label="A", on="m2"), verdict="joined", fields={"session": "s", "label": "A"},
        check=lambda _, after: "s" not in after.ended),
    Row("the same ticket again is the same place",
        given=[ONE, do.join("s", line={"work": EARLY})], call=do.join("s", line={"work": EARLY}), verdict="joined",
        lines={"work": "s"}),
    Row("a board that still has it keeps the ticket that it knows",
        given=[NESTED, do.join("s"), do.runs("s", "X"), do.spawn("s", "s2")],
        call=do.join("s", agents="X", line={"work": EARLY}), verdict="joined",
        check=lambda before, after: after.ticket("work", "s") == before.ticket("work", "s")),
)  # fmt: skip
def test_back_on_a_board_that_lost_it(world: World, row: Row) -> None:
    """After a flush whatever really runs is counted at once, and places in line are what they were."""
    row.play(world)


def test_a_flush_under_full_pools_never_lets_more_run(world: World) -> None:
    """FLUSHALL under four running agents and six newcomers: when all are back none of the six is approved."""
    world.pools("w", work=4)
    running = [f"r{n}" for n in range(4)]
    for one in running:
        world.join(one)
        world.runs(one, f"agent-{one}")
    world.flush()
    world.unknown_before()
    newcomers = [f"n{n}" for n in range(6)]
    for one in newcomers:
        world.join(one)
        assert world.spawn(one, f"slot-{one}").fields["cause"] == "settling"
    for one in running:
        world.join(one, agents=f"agent-{one}")
    world.step(3000)
    for one in newcomers:
        assert world.spawn(one, f"again-{one}").fields["cause"] == "full"
    assert len(world.seen().counted("work")) == 4
    assert world.seen().in_line("work") == newcomers
