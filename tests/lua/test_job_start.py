"""lua/job_start.lua: confirming a grant."""

from __future__ import annotations

from tests.lua.table import Row, table
from tests.lua.world import World, do

GRANTED = [do.running("a"), do.waiting("b"), do.finish("a")]
FENCE = "1800000000000001"


@table(
    Row("a grant is confirmed and the job runs",
        given=[*GRANTED, do.step(4000)], call=do.start("b"), verdict="started",
        fields={"fence": FENCE, "ticket": "1800000000000002", "owner": "o", "inside": "", "limitMs": ""},
        seats="b", states={"b": "running"}, events="job_started", lease={"b": 10_000},
        jobs={"b": {"grantedAt": 1_800_000_000_000, "startedAt": 1_800_000_004_000}}),
    Row("confirmed again it answers the same and changes nothing",
        given=[*GRANTED, do.start("b")], call=do.start("b"), verdict="started", fields={"fence": FENCE}, same=True),
    Row("a job that was granted at once may confirm too",
        given=[do.running("a")], call=do.start("a"), verdict="started", same=True),
    Row("the time limit comes with it",
        given=[do.policy("p", q={"slots": 1, "timeLimitMs": 7}), *GRANTED], call=do.start("b"), verdict="started",
        fields={"limitMs": 7}),
    Row("a grant that was not confirmed within 5 s has lapsed",
        given=[*GRANTED, do.step(5000)], call=do.start("b", FENCE), verdict="expired",
        fields={"how": "lapsed", "cause": "the grant was not confirmed in time", "by": "", "at": ""},
        states={"b": "away"}, seats="", line="", events="job_away stale_call"),
    Row("the fence of an earlier grant starts nothing",
        given=[*GRANTED, do.step(5000), do.ask("b")], call=do.start("b", FENCE), verdict="expired",
        fields={"how": "lapsed"}, stale=True),
    Row("a job that only waits has no grant to confirm",
        given=[do.running("a"), do.waiting("b")], call=do.start("b", FENCE), verdict="expired", stale=True),
    Row("a job that was cancelled meanwhile is not started",
        given=[*GRANTED, do.cancel("b", by="ann", reason="no", kill=True)], call=do.start("b", FENCE),
        verdict="expired", fields={"how": "cancelled", "by": "ann", "cause": "no", "at": 1_800_000_000_000},
        same=True),
    Row("another process cannot confirm it",
        given=GRANTED, call=do.start("b", instance="other"), verdict="notYours", stale=True),
    Row("a job that the board does not know has to register",
        given=[do.running("a")], call=do.start("z", FENCE), verdict="unknown", same=True),
    Row("a board made by a newer omp-coord is left alone",
        given=[*GRANTED, do.seed("HSET", "META", "schema", "2")], call=do.start("b"), verdict="newerSchema",
        fields={"schema": "2"}, same=True),
)  # fmt: skip
def test_verdicts(world: World, row: Row) -> None:
    """Only the very grant that is held, by its own process, within 5 s, is started."""
    row.play(world)
