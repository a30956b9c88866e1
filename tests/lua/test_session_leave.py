"""lua/session_leave.lua: a session ends."""

from __future__ import annotations

import json

from tests.lua.table import Row, table
from tests.lua.test_spawn_request import FULL, ONE, ST, T_HELD, T_WAITS
from tests.lua.world import World, do


def agents(*ids: str) -> object:
    """Who was mid-run, by the event of the leaving."""

    def check(_: object, after: object) -> bool:
        left = [event for _, event in after.events if event["type"] == "session_left"][-1]  # type: ignore[attr-defined]
        found = json.loads(left["agents"])
        assert all(agent.keys() == {"id", "type", "startedAt"} for agent in found)
        return [agent["id"] for agent in found] == list(ids)

    return check


@table(
    Row("everything of it goes: letter, slots, lease, policy",
        given=FULL, call=do.leave("s"), verdict="left", fields={"alone": ""}, gone="s s-X s-Y", slots="",
        letters={"B": "t"}, used={"work": 0}, ended={"s": {"how": "exit"}},
        said={"session_left": {"session": "s", "label": "A", "cwd": "/x", "reason": "exit"}}),
    Row("its place in line goes",
        given=T_WAITS, call=do.leave("t"), verdict="left", gone="t", lines={"work": ""}),
    Row("its hold goes to the next",
        given=[*T_HELD, do.join("u"), do.spawn("u", "u1")], call=do.leave("t"), verdict="left", gone="t",
        holds={"work": "u"}, lines={"work": "u"}, events="session_left hold_given"),
    Row("its slots go to who waits, at once",
        given=T_WAITS, call=do.leave("s"), verdict="left", holds={"work": "t"}, slots="",
        events="session_left hold_given"),
    Row("what has not started goes as well",
        given=[ONE, *ST, do.spawn("s", "s1"), do.spawn("t", "t1")], call=do.leave("s"), verdict="left",
        holds={"work": "t"}, gone="s s1", due={"hold|work|t": 300_000}),
    Row("its nested and exempt agents go as well",
        given=[do.pools("w", work=1, exempt=("scout",), nested=("scout",)), do.join("s"), do.runs("s", "X"),
               do.runs("s", "P", type="scout", parent="X"), do.runs("s", "Q", type="scout")],
        call=do.leave("s"), verdict="left", slots=""),
    Row("with its strict policy gone the line of others is served",
        given=[do.pools("less", work=1), do.join("s"), do.join("t", policy="less"), do.runs("s", "X"),
               do.spawn("s", "s2")],
        call=do.leave("t"), verdict="left", policies="w", holds={"work": "s"},
        pools={"work": {"effective": 2, "limitedBy": None}}),
    Row("the last to leave is told that nobody lives here now",
        given=[do.join("s")], call=do.leave("s"), verdict="left", fields={"alone": "1"}),
    Row("a job that runs is somebody",
        given=[do.join("s"), do.running("a")], call=do.leave("s"), verdict="left", fields={"alone": ""}, seats="a"),
    Row("agents mid-run stand in the log, to be revived",
        given=[do.join("s"), do.runs("s", "X"), do.step(7), do.runs("s", "Y", type="scout")], call=do.leave("s"),
        verdict="left", events="session_left", check=agents("X", "Y")),
    Row("also after a signal",
        given=[do.join("s"), do.runs("s", "X")], call=do.leave("s", "signal"), verdict="left", check=agents("X")),
    Row("one that was ending has ended, one that had not started was never there",
        given=[do.join("s"), do.runs("s", "X"), do.stopped("s", "X"), do.spawn("s", "s2", key="Y")],
        call=do.leave("s"), verdict="left", events="run_ended session_left", check=agents(),
        said={"run_ended": {"outcome": "ended"}}),
    Row("after /new they count as ended",
        given=[do.join("s"), do.runs("s", "X"), do.spawn("s", "s2")], call=do.leave("s", "new"), verdict="left",
        events="run_ended session_left", check=agents(), said={"run_ended": {"agentId": "X", "outcome": "new"}}),
    Row("after a switch too",
        given=[do.join("s"), do.runs("s", "X")], call=do.leave("s", "switch"), verdict="left", check=agents(),
        said={"run_ended": {"outcome": "switch"}, "session_left": {"reason": "switch"}}),
    Row("after a branch too",
        given=[do.join("s"), do.runs("s", "X")], call=do.leave("s", "branch"), verdict="left", check=agents(),
        said={"run_ended": {"outcome": "branch"}}),
    Row("who left before is told so",
        given=[*ST, do.leave("s")], call=do.leave("s"), verdict="ended",
        fields={"how": "exit", "at": 1_800_000_000_000}, same=True),
    Row("who was taken for gone is told so",
        given=[*ST, do.vouch(kind="session", gone="s"), do.sweep()], call=do.leave("s"), verdict="ended",
        fields={"how": "died", "cause": "its process is gone"}),
    Row("a bridge whose session was taken over cannot end it",
        given=ST, call=do.leave("s", instance="other"), verdict="notYours", same=True),
    Row("a session that the board does not know",
        given=ST, call=do.leave("z"), verdict="unknown", same=True),
    Row("a board made by a newer omp-coord is left alone",
        given=[*ST, do.seed("HSET", "META", "schema", "2")], call=do.leave("s"), verdict="newerSchema",
        fields={"schema": "2"}, same=True),
)  # fmt: skip
def test_verdicts(world: World, row: Row) -> None:
    """Nothing of a session stays but its tombstone; its agents can be revived unless the conversation was switched."""
    row.play(world)
