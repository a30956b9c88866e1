"""lua/session_beat.lua: a session's beat."""

from __future__ import annotations

import json
from typing import Any

from tests.lua.table import Row, table
from tests.lua.test_spawn_request import FULL, ST, T_HELD, T_WAITS
from tests.lua.world import World, do


def is_json(wanted: Any) -> object:
    return lambda said: json.loads(said) == wanted


def ids(*wanted: str) -> object:
    return lambda said: [one["id"] for one in json.loads(said)] == list(wanted)


PLACE = {"pool": "work", "ticket": "1800000000000001"}
"""Of t in T_WAITS: the policy was the first to take a number."""

NONE = {"holds": "[]", "line": "[]", "watch": "[]", "paused": ""}


@table(
    Row("its lease is renewed, and all that it must know comes with it",
        given=[do.join("s"), do.step(2000)], call=do.live("s"), verdict="alive",
        fields={**NONE, "label": "A", "pools": is_json([{"name": "work", "used": 0, "cap": 2}]), "allowance": "2",
                "why": "", "waitingJobs": "0", "sync": ""},
        session_lease={"s": 10_000}, meta={"lastBeat": "1800000002000"}, events=""),
    Row("pools come in the order of its file, with what is used by all",
        given=[do.pools("w", work=2, a=3, z={"cap": 4, "types": ["scout"]}), *FULL, do.runs("s", "Z", type="scout")],
        call=do.live("t"), verdict="alive",
        fields={"pools": is_json([{"name": "work", "used": 2, "cap": 2}, {"name": "a", "used": 0, "cap": 3},
                                  {"name": "z", "used": 1, "cap": 4}])}),
    Row("without pools there are none",
        given=[do.pools("w"), do.join("s")], call=do.live("s"), verdict="alive",
        fields={"pools": "[]", "allowance": "", "why": "none"}),
    Row("its place in line is told, and whom it waits for on its machine",
        given=T_WAITS, call=do.live("t"), verdict="alive",
        fields={"line": is_json([{**PLACE, "place": 1}]), "holds": "[]", "watch": ids("s")}, events=""),
    Row("those before it in line are among them",
        given=[*T_WAITS, do.join("u"), do.spawn("u", "u1")], call=do.live("u"), verdict="alive",
        fields={"watch": ids("s", "t")}),
    Row("those of another machine are not: nobody here sees their processes",
        given=[do.join("s", on="m2"), do.join("t"), do.runs("s", "X", "Y"), do.spawn("t", "t1")], call=do.live("t"),
        verdict="alive", fields={"watch": "[]", "line": is_json([{**PLACE, "place": 1}])}),
    Row("a hold is told with its end",
        given=T_HELD, call=do.live("t"), verdict="alive",
        fields={"holds": is_json([{**PLACE, "until": 1_800_000_300_500}]), "line": "[]", "watch": "[]"}),
    Row("while paused a hold has no end",
        given=[*T_HELD, do.pause(reason="tea")], call=do.live("t"), verdict="alive",
        fields={"holds": is_json([PLACE]), "why": "paused", "paused": lambda said: '"reason":"tea"' in said}),
    Row("how many jobs wait is told",
        given=[do.join("s"), do.running("a"), do.waiting("b", "c")], call=do.live("s"), verdict="alive",
        fields={"waitingJobs": "2"}),
    Row("agents that run on the board only ask for a list of what really runs",
        given=FULL, call=do.live("s", agents="X"), verdict="alive", fields={"sync": "1"}),
    Row("agents that run in the session only do too",
        given=FULL, call=do.live("s", agents="X Y Z"), verdict="alive", fields={"sync": "1"}),
    Row("the same agents do not, in whatever order",
        given=FULL, call=do.live("s", agents="Y X"), verdict="alive", fields={"sync": ""}),
    Row("what is to start or is ending does not run",
        given=[*FULL, do.stopped("s", "X")], call=do.live("s", agents="Y"), verdict="alive", fields={"sync": ""}),
    Row("it may have ended: how and when is told",
        given=[*ST, do.vouch(kind="session", gone="s"), do.sweep()], call=do.live("s"), verdict="ended",
        fields={"how": "died", "cause": "its process is gone", "by": "", "at": 1_800_000_000_000}, same=True),
    Row("another process cannot beat for it",
        given=[*ST, do.step(1000)], call=do.live("s", instance="other"), verdict="notYours", same=True),
    Row("a session that the board does not know has to join",
        given=ST, call=do.live("z"), verdict="unknown", same=True),
    Row("after a flush it is unknown",
        given=[*ST, do.flush()], call=do.live("s"), verdict="unknown", slots=""),
    Row("a board made by a newer omp-coord is left alone",
        given=[*ST, do.seed("HSET", "META", "schema", "2")], call=do.live("s"), verdict="newerSchema",
        fields={"schema": "2"}, same=True),
)  # fmt: skip
def test_verdicts(world: World, row: Row) -> None:
    """One beat renews the lease and brings all that a session must know; for another process it changes nothing."""
    row.play(world)


SHORT = do.pools("w", work=2, hold_ms=8000)
BEHIND = [SHORT, *T_HELD, do.join("u"), do.spawn("u", "u1"), do.lived(6, "s", "t", "u")]


@table(
    Row("until its time a hold is kept",
        given=[*BEHIND, do.step(1999)], call=do.live("u"), verdict="alive", holds={"work": "t"}),
    Row("a hold nobody used goes to the next; who had it leaves the line",
        given=[*BEHIND, do.step(2000), do.listen("u")], call=do.live("u"), verdict="alive", holds={"work": "u"},
        lines={"work": "u"}, events="hold_lapsed hold_given", said={"hold_lapsed": {"session": "t", "pool": "work"}},
        fields={"holds": lambda said: json.loads(said)[0]["until"] == 1_800_000_000_000 + 500 + 8000 + 8000}),
    Row("who let it lapse may stand in line again, at the end",
        given=[*BEHIND, do.step(2000)], call=do.spawn("t", "t9"), verdict="refused", fields={"place": "2"},
        lines={"work": "u t"}),
    Row("each session is told once",
        given=[*BEHIND, do.step(2000), do.listen("t", "u"), do.live("u"), do.live("t")], call=do.live("u"),
        verdict="alive", heard={"u": f"hold work {1_800_000_016_500} {1_800_000_000_500_000}", "t": ""}, events=""),
    Row("without another word it is 5 minutes",
        given=T_HELD, call=do.live("s", agents="Y"), verdict="alive", due={"hold|work|t": 300_000}),
    Row("how long is said by the policy of who gets it",
        given=[do.pools("short", work=2, hold_ms=9000), do.join("s"), do.join("t", policy="short"),
               do.runs("s", "X", "Y"), do.spawn("t", "t1"), do.ends("s", "X")],
        call=do.live("s", agents="Y"), verdict="alive", due={"hold|work|t": 9000}),
    Row("when all sleep a hold does not age",
        given=[SHORT, *T_HELD, do.live("t"), do.step(60_000)], call=do.live("t"), verdict="alive",
        holds={"work": "t"}, due={"hold|work|t": 8000}),
)  # fmt: skip
def test_holds_lapse(world: World, row: Row) -> None:
    """A hold lapses at its time and the next in line gets it."""
    row.play(world)


LOWER = [do.pools("w", work=4), *ST, do.join("u"), do.runs("s", "X", "Y", "Z", "V"), do.spawn("t", "t1"),
         do.step(1), do.spawn("u", "u1"), do.ends("s", "X", "Y")]  # fmt: skip
"""Of four slots two run, one is kept for t, one for u."""

THREE, TWO_, RAISED = do.pools("w3", work=3), do.pools("w2", work=2), do.pools("w6", work=6)


@table(
    Row("a lowered cap takes back the newest hold; its session keeps its ticket and is told",
        given=[THREE, *LOWER, do.listen("t", "u")], call=do.live("s", agents="Z V", policy="w3"), verdict="alive",
        holds={"work": "t"}, lines={"work": "t u"}, heard={"u": "withdrawn work", "t": ""},
        events="policy_registered hold_withdrawn", said={"hold_withdrawn": {"session": "u", "pool": "work"}}),
    Row("as many as have no room, newest first",
        given=[TWO_, *LOWER], call=do.live("s", agents="Z V", policy="w2"), verdict="alive", holds={"work": ""},
        lines={"work": "t u"}, events="policy_registered hold_withdrawn hold_withdrawn"),
    Row("newest is told by the ticket, not by how long the hold would have lasted",
        given=[THREE, do.pools("w", work=4), do.pools("short", work=4, hold_ms=60_000), do.join("s"), do.join("t"),
               do.join("u", policy="short"), do.runs("s", "X", "Y", "Z", "V"), do.spawn("t", "t1"),
               do.spawn("u", "u1"), do.ends("s", "X", "Y")],
        call=do.live("s", agents="Z V", policy="w3"), verdict="alive", holds={"work": "t"}, lines={"work": "t u"}),
    Row("by the load as well",
        given=[do.pools("w3", work={"cap": 4, "loadCaps": [[4, 3]]}), *LOWER, do.live("s", policy="w3")],
        call=do.live("t", load="5.00"), verdict="alive", holds={"work": "t"}, events="hold_withdrawn"),
    Row("who lost its hold is next when there is room again",
        given=[THREE, *LOWER, do.live("s", policy="w3"), do.ends("s", "Z")], call=do.live("u"), verdict="alive",
        holds={"work": "t u"}),
    Row("what runs over a lowered cap runs on, and nobody is served until under",
        given=[do.pools("w1", work=1), *T_WAITS, do.live("s", policy="w1"), do.ends("s", "X")],
        call=do.live("t"), verdict="alive", used={"work": 1}, holds={"work": ""},
        fields={"pools": is_json([{"name": "work", "used": 1, "cap": 1}])}),
    Row("one old file lowers a cap but cannot raise it",
        given=[RAISED, *T_WAITS], call=do.live("s", policy="w6"), verdict="alive", holds={"work": ""},
        pools={"work": {"cap": 2, "effective": 2, "limitedBy": "policy"}}),
    Row("a raise serves the line at once, without any release",
        given=[RAISED, *T_WAITS, do.join("u"), do.spawn("u", "u1"), do.live("s", policy="w6"),
               do.live("u", policy="w6")],
        call=do.live("t", policy="w6"), verdict="alive", holds={"work": "t u"}, policies="w6",
        events="hold_given hold_given", fields={"holds": lambda said: '"pool":"work"' in said}),
    Row("the policy is the session's from here on",
        given=[RAISED, do.join("s")], call=do.live("s", policy="w6"), verdict="alive",
        sessions={"s": {"policy": "w6"}}, policies="w6"),
    Row("the same policy again is no change",
        given=[do.join("s")], call=do.live("s", policy="w"), verdict="alive", events="", policies="w"),
    Row("a longer lease that it asks for holds from the next beat on",
        given=[do.pools("long", work=1, lease_ms=30_000), do.join("s"), do.live("s", policy="long")],
        call=do.live("s"), verdict="alive", session_lease={"s": 30_000}),
    Row("a raise serves waiting jobs too",
        given=[do.policy("p", q={"slots": 2}), do.join("s"), do.running("a"), do.waiting("b"),
               do.pools("none", work=1), lambda world: world.policies.update(none='{"pools":{"work":{"cap":1}}}')],
        call=do.live("s", policy="none"), verdict="alive", states={"b": "granted"}),
)  # fmt: skip
def test_policies(world: World, row: Row) -> None:
    """A session may change its configuration; what that lowers or raises shows in the same step."""
    row.play(world)


def vouch(**seen: str) -> Any:
    return do.vouch(kind="session", **seen)


LEFT = do.lived(10, "t")
"""Ten seconds in which t beats and s does not."""


@table(
    Row("who is late by one and a half beats is named to its own machine, with process and bridge",
        given=[*ST, do.step(3000)], call=do.live("t"), verdict="alive", suspects="s t",
        fields={"suspects": lambda said: {
            "kind": "session", "id": "s", "machine": "m1", "process": {"pid": 1000, "start": "1", "instance": "s"},
            "bridge": {"pid": 6000, "start": "1"}} in json.loads(said)}),
    Row("on its own machine it is never reaped by age",
        given=[*T_WAITS, LEFT, do.lived(60, "t")], call=do.live("t"), verdict="alive", suspects="s",
        slots="s-X:running s-Y:running", holds={"work": ""}),
    Row("whose process is gone goes with all it has, and the next is served",
        given=[*T_WAITS, vouch(gone="s")], call=do.live("t"), verdict="alive", gone="s s-X s-Y", slots="",
        holds={"work": "t"}, events="session_left hold_given", said={"session_left": {"reason": "died"}},
        ended={"s": {"how": "died", "cause": "its process is gone"}}),
    Row("a holder whose process is gone gives its hold to the next",
        given=[*T_HELD, do.join("u"), do.spawn("u", "u1"), vouch(gone="t")], call=do.live("u"), verdict="alive",
        holds={"work": "u"}),
    Row("who lives has its lease renewed",
        given=[*ST, do.step(5000), vouch(live="s")], call=do.live("t"), verdict="alive", session_lease={"s": 10_000},
        suspects="t"),
    Row("a lapsed lease of another machine is reaped and its slots handed on",
        given=[do.join("s", on="m2"), do.join("t"), do.runs("s", "X", "Y"), do.spawn("t", "t1"),
               do.lived(8, "t"), do.step(2000)],
        call=do.live("t"), verdict="alive", gone="s", holds={"work": "t"}, events="session_left hold_given",
        ended={"s": {"how": "lost", "cause": "its lease lapsed"}}),
    Row("one that has a second left is honoured",
        given=[do.join("s", on="m2"), do.join("t"), do.runs("s", "X", "Y"), do.spawn("t", "t1"), do.lived(8, "t"),
               do.step(1000)],
        call=do.live("t"), verdict="alive", slots="s-X:running s-Y:running"),
    Row("a waiter whose lease has lapsed is passed over, its ticket kept",
        given=[*T_WAITS, do.join("u"), do.spawn("u", "u1"), do.lived(10, "s", "u"), do.ends("s", "X")],
        call=do.live("s", agents="Y"), verdict="alive", holds={"work": "u"}, lines={"work": "t u"}),
    Row("when it beats again it is served if there is something",
        given=[*T_WAITS, do.lived(10, "s"), do.ends("s", "X")], call=do.live("t"), verdict="alive",
        holds={"work": "t"}, events="hold_given"),
    Row("when its lease is moved on because all slept too",
        given=[*T_WAITS, do.lived(6, "s"), do.step(3500), do.stopped("s", "X"), do.step(600), do.sweep(),
               do.step(2000)],
        call=do.live("s", agents="Y"), verdict="alive", holds={"work": "t"}, events="hold_given"),
    Row("when somebody vouches for it too",
        given=[*T_WAITS, do.lived(10, "s"), do.ends("s", "X"), vouch(live="t")], call=do.live("s", agents="Y"),
        verdict="alive", holds={"work": "t"}, events="hold_given"),
    Row("another start time than the board knows changes nothing",
        given=[*ST, do.vouch(kind="session", gone="s", wrong={"start": "9"})], call=do.sweep(), verdict="swept",
        same=True),
    Row("another instance than the board knows changes nothing",
        given=[*ST, do.vouch(kind="session", gone="s", wrong={"instance": "9"})], call=do.sweep(), verdict="swept",
        same=True),
    Row("another process id than the board knows changes nothing",
        given=[*ST, do.vouch(kind="session", gone="s", wrong={"pid": 9})], call=do.sweep(), verdict="swept",
        same=True),
    Row("a session that the board does not know changes nothing",
        given=[*ST, vouch(gone="z")], call=do.sweep(), verdict="swept", same=True),
)  # fmt: skip
def test_who_lives(world: World, row: Row) -> None:
    """The process table decides on one machine; a lapsed lease is reaped by others only."""
    row.play(world)


NO_BRIDGE = [*T_WAITS, vouch(bridgeless="s"), do.live("t")]


@table(
    Row("a session whose bridge is gone while its host lives is noted, and lives on",
        given=[*T_WAITS, do.step(3000), vouch(bridgeless="s")], call=do.live("t"), verdict="alive",
        sessions={"s": {"bridgeLostAt": 1_800_000_003_000}}, session_lease={"s": 10_000}, events=""),
    Row("for 60 s",
        given=[*NO_BRIDGE, do.lived(58, "t"), do.step(1999), vouch(bridgeless="s")], call=do.live("t"),
        verdict="alive", slots="s-X:running s-Y:running", sessions={"s": {"bridgeLostAt": 1_800_000_000_000}}),
    Row("then it leaves, and the next is served",
        given=[*NO_BRIDGE, do.lived(58, "t"), do.step(2000), vouch(bridgeless="s")], call=do.live("t"),
        verdict="alive", gone="s", slots="", holds={"work": "t"}, events="bridge_lost session_left hold_given",
        said={"session_left": {"reason": "bridgeLost"}, "bridge_lost": {"session": "s", "label": "A"}},
        ended={"s": {"how": "bridgeLost"}}),
    Row("a new bridge in time keeps everything",
        given=[*NO_BRIDGE, do.lived(58, "t"), do.join("s", agents="X Y", instance="again"), do.step(2000),
               vouch(bridgeless="s")],
        call=do.live("t"), verdict="alive", slots="s-X:running s-Y:running",
        sessions={"s": {"bridgeLostAt": None}}, events=""),
    Row("when its host goes too it leaves at once",
        given=[*NO_BRIDGE, vouch(gone="s")], call=do.live("t"), verdict="alive", gone="s", holds={"work": "t"},
        said={"session_left": {"reason": "died"}}),
)  # fmt: skip
def test_bridgeless(world: World, row: Row) -> None:
    """A host without its bridge has 60 s to start another one."""
    row.play(world)


def test_a_waiter_costs_one_call_per_beat_and_is_told_nothing_new(world: World) -> None:
    """While nothing changes a session in line hears nothing and its beats write no event."""
    world.pools("w", work=1)
    world.join("s")
    world.join("t")
    world.runs("s", "X")
    world.spawn("t", "t1")
    world.listen("t")
    before = world.seen().events
    world.lived(20, "s", "t")
    assert world.heard("t") == []
    assert world.seen().events == before
