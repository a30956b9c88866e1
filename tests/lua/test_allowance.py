"""The allowance: how many spawns omp's own queue may let through while a session is alone (lib/allowance).

allowance = slots of the session whose parent is Main, whatever their pool, minus those that never went through omp's queue
(`unqueued`), + what is free in the default pool (at least 0) + the session's own hold there. "": omp's queue is not driven.
"""

from __future__ import annotations

import pytest

from tests.lua.table import Row, table
from tests.lua.test_spawn_request import ONE
from tests.lua.world import Step, World, do

EXEMPT = do.pools("w", work=3, read={"cap": 2, "types": ["scout"]}, exempt=("free",), nested=("free", "task"), most=9)
S = [EXEMPT, do.join("s")]


def case(id_: str, allowance: int | None, *given: Step, why: str = "", call: Step | None = None) -> Row:
    """After these steps the session's beat says this allowance; None: its queue is not driven, and why."""
    said = "" if allowance is None else allowance
    return Row(id_, given=given, call=call or do.live("s"), verdict="alive", fields={"allowance": said, "why": why})


@table(
    case("nothing runs: what the default pool has free", 3, *S),
    case("an approved slot that has not started counts as queued: the sum stays", 3, *S, do.spawn("s", "s1")),
    case("one that runs too", 3, *S, do.runs("s", "X")),
    case("one that is ending too, for as long as it counts", 3, *S, do.runs("s", "X"), do.stopped("s", "X")),
    case("after that it is free", 3, *S, do.runs("s", "X"), do.ends("s", "X")),
    case("a full pool: all that run may", 3, *S, do.runs("s", "X", "Y", "Z")),
    case("a slot of another pool also needs a place of omp's queue", 4, *S, do.runs("s", "P", type="scout")),
    case("full default pool and another pool", 5, *S, do.runs("s", "X", "Y", "Z"),
         do.runs("s", "P", "Q", type="scout")),
    case("an exempt one too", 4, *S, do.runs("s", "P", type="free")),
    case("a nested one does not: its parent is not Main", 3, *S, do.runs("s", "X"),
         do.runs("s", "P", type="free", parent="X")),
    case("a revived one takes a slot but no place of omp's queue", 2, *S, do.started("s", "X")),
    case("a revived one of another pool takes nothing here", 3, *S, do.started("s", "P", type="scout")),
    case("a revived exempt one takes nothing here", 3, *S, do.started("s", "P", type="free")),
    case("a revived nested one takes nothing here", 3, *S, do.started("s", "P", parent="X")),
    case("one revived and two approved: two run through the queue", 2, *S, do.started("s", "X"), do.runs("s", "Y", "Z")),
    case("over the cap nothing is free, not less", 2, *S, do.runs("s", "X", "Y"), do.started("s", "A"),
         do.started("s", "B")),
    case("over a lowered cap as well", 3, *S, do.runs("s", "X", "Y", "Z"), do.pools("less", work=1),
         do.live("s", policy="less")),
    case("with another default pool it is that one's", 5,
         do.pools("w", work=3, docs=5, default="docs"), do.join("s")),
    case("an own hold in the default pool is free for it", 1, ONE, do.join("s"), do.join("t"), do.runs("t", "X"),
         do.spawn("s", "s1"), do.ends("t", "X"), do.leave("t")),
    case("beside an own hold what is free counts once", 2, do.pools("w", work=2), do.join("s"), do.join("t"),
         do.runs("t", "X", "Y"), do.spawn("s", "s1"), do.ends("t", "X", "Y"), do.leave("t")),
    case("an own hold in another pool does not count", 3, *S, do.join("t"), do.runs("t", "P", "Q", type="scout"),
         do.spawn("s", "s1", type="scout"), do.leave("t")),
    case("its own place in line changes nothing", 1, ONE, do.join("s"), do.runs("s", "X"), do.spawn("s", "s2")),
    case("jobs don't count as others", 3, *S, do.running("a"), do.waiting("b")),
    case("the load lowers it", 1, do.pools("w", work={"cap": 3, "loadCaps": [[4, 1]]}), do.join("s"),
         call=do.live("s", load="5.00")),
    case("an agent of eval: not driven", None, *S, do.spawn("s", "s1", invocation="eval"), why="eval"),
    case("an agent of eval that runs", None, *S, do.runs("s", "X", invocation="eval"), why="eval"),
    case("an agent of eval that is ending", None, *S, do.runs("s", "X", invocation="eval"), do.stopped("s", "X"),
         why="eval"),
    case("an exempt one of eval", None, *S, do.runs("s", "X", type="free", invocation="eval"), why="eval"),
    case("a nested one of eval, at any depth", None, *S, do.runs("s", "X", type="free", parent="a.b", invocation="eval"),
         why="eval"),
    case("one of eval that started again without approval", None, *S, do.started("s", "X", unqueued="eval"), why="eval"),
    case("when it has ended omp's queue is driven again", 3, *S, do.runs("s", "X", invocation="eval"), do.ends("s", "X")),
    case("another session of this machine", None, *S, do.join("t"), why="others"),
    case("another session of another machine", None, *S, do.join("t", on="m2"), why="others"),
    case("another session of another configuration", None, *S, do.join("t", policy="p"), why="others"),
    case("when the other has left omp's queue is driven again", 3, *S, do.join("t"), do.leave("t")),
    case("when the other's process is gone as well", 3, *S, do.join("t"), do.vouch(kind="session", gone="t")),
    case("paused", None, *S, do.pause(), why="paused"),
    case("resumed", 3, *S, do.pause(), do.resume()),
    case("no slot free and none queued", None, ONE, do.join("s"), do.started("s", "X"), why="none"),
    case("a default pool of no slots", None, do.pools("w", work=0), do.join("s"), why="none"),
    case("no pools at all", None, do.pools("w"), do.join("s"), why="none"),
    case("a full default pool and one of another pool: that one's place", 1,
         do.pools("w", work=1, read={"cap": 1, "types": ["scout"]}), do.join("s"), do.started("s", "X"),
         do.runs("s", "P", type="scout")),
    case("of several reasons paused is the first", None, *S, do.join("t"), do.spawn("s", "s1", invocation="eval"),
         do.pause(), why="paused"),
    case("then others", None, *S, do.join("t"), do.spawn("s", "s1", invocation="eval"), why="others"),
    case("then eval, also when nothing is free", None, ONE, do.join("s"), do.runs("s", "X", invocation="eval"),
         why="eval"),
)  # fmt: skip
def test_sum(world: World, row: Row) -> None:
    """All slots that went through omp's queue, and what the default pool has free for this session."""
    row.play(world)


@pytest.mark.parametrize(
    ("call", "allowance"),
    [
        (do.spawn("s", "s1"), "1"), (do.spawn("s", "s1", type="scout"), "2"), (do.started("s", "X"), ""),
        (do.stopped("s", "X"), "1"), (do.sync("s", "X"), ""), (do.live("s"), "1"),
    ],
    ids=["approved spawn", "spawn of another pool", "revived start", "end", "sync", "beat"],
)  # fmt: skip
def test_it_is_recomputed_on_every_start_end_spawn_and_beat(world: World, call: Step, allowance: str) -> None:
    """Each answer says the allowance as it is after the call."""
    world.pools("w", work=1, read={"cap": 1, "types": ["scout"]})
    world.join("s")
    assert call(world).fields["allowance"] == allowance


def test_a_refusal_says_it_too(world: World) -> None:
    """A spawn that is refused tells how many may run: those that do."""
    world.pools("w", work=2)
    world.join("s")
    world.runs("s", "X", "Y")
    answer = world.spawn("s", "s3")
    assert (answer.verdict, answer.fields["allowance"]) == ("refused", "2")


def test_spawns_past_the_cap_wait_in_omp_and_start_by_themselves(world: World) -> None:
    """Played with omp's queue held at the allowance: ten spawns through two slots, and none is ever refused."""
    world.pools("w", work=2)
    world.join("s")
    width, waiting, running = 2, list(range(10)), list[str]()
    while waiting or running:
        while waiting and len(running) < width:
            agent = f"agent-{waiting.pop(0)}"
            assert world.spawn("s", f"slot-{agent}", key=agent).verdict == "approved"
            width = int(world.started("s", agent).fields["allowance"])
            running.append(agent)
        assert width == len(running) == 2 or not waiting
        width = int(world.stopped("s", running.pop(0)).fields["allowance"])
        assert width == 2
