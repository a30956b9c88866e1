"""lua/job_cancel.lua: taking a job out of its line, or asking its runner to end it."""

from __future__ import annotations

from tests.lua.table import Row, table
from tests.lua.world import World, do

FULL = [do.running("a"), do.waiting("b", "c")]
ORPHAN = [do.running("a"), do.vouch(orphaned="a", pids=[70, 71]), do.sweep()]
ANN = {"by": "ann", "reason": "why"}


@table(
    Row("a waiting job is taken out of its line and told",
        given=FULL, call=do.cancel("b", **ANN), verdict="cancelled", line="c", seats="a", gone="b",
        heard={"b": "cancelled b", "c": ""}, events="job_cancelled",
        ended={"b": {"how": "cancelled", "by": "ann", "cause": "why"}}),
    Row("a runner that gives up its own place has left",
        given=FULL, call=do.cancel("b", instance="b"), verdict="cancelled", line="c", gone="b",
        ended={"b": {"how": "left", "by": None, "cause": None}}),
    Row("a job that is away is taken out too",
        given=[do.running("a"), do.enqueue("b"), do.finish("a")], call=do.cancel("b", **ANN), verdict="cancelled",
        gone="b"),
    Row("a runner that gives up its grant hands it on",
        given=[*FULL, do.finish("a")], call=do.cancel("b", instance="b"), verdict="cancelled", gone="b",
        seats="c", states={"c": "granted"}),
    Row("a grant is not taken back without kill",
        given=[*FULL, do.finish("a")], call=do.cancel("b", **ANN), verdict="running", fields={"state": "granted"},
        same=True),
    Row("with kill a grant is taken back and handed on",
        given=[*FULL, do.finish("a")], call=do.cancel("b", kill=True, **ANN), verdict="cancelled", gone="b",
        seats="c", heard={"b": f"granted b {1_800_000_000_000_001} cancelled b"}),
    Row("a running job is left alone without kill",
        given=FULL, call=do.cancel("a", **ANN), verdict="running", fields={"state": "running"}, same=True),
    Row("another process's word does not end a running job",
        given=FULL, call=do.cancel("a", instance="b"), verdict="running", same=True),
    Row("with kill a running job's runner is told, and the slot is its own until it ends",
        given=[*FULL, do.listen("a")], call=do.cancel("a", kill=True, **ANN), verdict="killing",
        fields={"pids": "[]"}, seats="a", line="b c", jobs={"a": {"killBy": "ann", "killReason": "why"}},
        heard={"a": "kill a"}, events="job_kill_asked"),
    Row("with kill the processes of an orphaned job are named",
        given=ORPHAN, call=do.cancel("a", kill=True, **ANN), verdict="killing", fields={"pids": "[70,71]"},
        seats="a"),
    Row("a job that runs inside another's slot can be killed alone",
        given=[do.running("a"), do.enqueue("b", parent="a")], call=do.cancel("b", kill=True, **ANN),
        verdict="killing", jobs={"a": {"killBy": None}, "b": {"killBy": "ann"}}),
    Row("a job that has ended stays ended",
        given=[do.running("a"), do.finish("a")], call=do.cancel("a", **ANN), verdict="ended",
        fields={"how": "finished", "by": "", "cause": "", "at": 1_800_000_000_000}, same=True),
    Row("cancelled again it is told by whom first",
        given=[*FULL, do.cancel("b", **ANN)], call=do.cancel("b", by="bob"), verdict="ended",
        fields={"how": "cancelled", "by": "ann", "cause": "why"}, same=True),
    Row("a job that was never there is unknown",
        given=FULL, call=do.cancel("z", **ANN), verdict="unknown", same=True),
    Row("a board made by a newer omp-coord is left alone",
        given=[*FULL, do.seed("HSET", "META", "schema", "2")], call=do.cancel("b"), verdict="newerSchema",
        fields={"schema": "2"}, same=True),
)  # fmt: skip
def test_verdicts(world: World, row: Row) -> None:
    """A waiting job leaves its line at once; a running one is only asked to end, by its runner."""
    row.play(world)
