"""lua/spawn_request.lua: what a spawn counts against, what a subagent may start, and which cap applies."""

from __future__ import annotations

from tests.lua.table import Row, table
from tests.lua.test_spawn_request import NEST, NESTED, ST
from tests.lua.world import World, do

TYPES = do.pools("w", work=1, read={"cap": 1, "types": ["scout*", "rev?"]}, docs={"cap": 1, "types": ["*er"]},
                 exempt=("Librarian", "x*y"))  # fmt: skip


@table(
    Row("a type that no pool names counts against the default pool",
        given=[TYPES, do.join("s")], call=do.spawn("s", "s1"), verdict="approved", fields={"pool": "work"}),
    Row("a pattern names the pool",
        given=[TYPES, do.join("s")], call=do.spawn("s", "s1", type="scout-x"), verdict="approved",
        fields={"pool": "read"}),
    Row("of several that match it is the first in the file",
        given=[TYPES, do.join("s")], call=do.spawn("s", "s1", type="scouter"), verdict="approved",
        fields={"pool": "read"}),
    Row("a star may stand in front",
        given=[TYPES, do.join("s")], call=do.spawn("s", "s1", type="writer"), verdict="approved",
        fields={"pool": "docs"}),
    Row("a pattern names the whole type",
        given=[TYPES, do.join("s")], call=do.spawn("s", "s1", type="my-scout"), verdict="approved",
        fields={"pool": "work"}),
    Row("only the star is special",
        given=[TYPES, do.join("s")], call=do.spawn("s", "s1", type="revx"), verdict="approved",
        fields={"pool": "work"}),
    Row("types are compared lower-cased",
        given=[TYPES, do.join("s")], call=do.spawn("s", "s1", type="SCOUT"), verdict="approved",
        fields={"pool": "read"}),
    Row("the file may name another default pool than its first",
        given=[do.pools("w", work=1, other=1, default="other"), do.join("s")], call=do.spawn("s", "s1"),
        verdict="approved", fields={"pool": "other"}),
    Row("an exempt type never waits: it has a slot without a pool",
        given=[TYPES, do.join("s"), do.runs("s", "X")], call=do.spawn("s", "s1", type="librarian"),
        verdict="approved", fields={"pool": "", "used": "0", "cap": ""}, used={"work": 1},
        slot={"s1": {"pool": None, "state": "starting"}}, due={"start|s1": 120_000}),
    Row("exempt types may be patterns, and count against no pool whose types match too",
        given=[TYPES, do.join("s")], call=do.spawn("s", "s1", type="xer-y"), verdict="approved", fields={"pool": ""}),
    Row("without pools agents are counted, not capped",
        given=[do.pools("w"), do.join("s")], call=do.spawn("s", "s1"), verdict="approved",
        fields={"pool": "", "cap": ""}, slots="s1:starting"),
    Row("a policy that says nothing of agents caps none",
        given=[do.join("s", policy="p")], call=do.spawn("s", "s1"), verdict="approved", fields={"pool": ""}),
    Row("what a type counts against is said by the session's own policy",
        given=[do.pools("mine", other={"cap": 1, "types": ["task"]}), do.join("s"), do.join("t", policy="mine")],
        call=do.spawn("t", "t1"), verdict="approved", fields={"pool": "other"}, used={"work": 0, "other": 1}),
)  # fmt: skip
def test_types(world: World, row: Row) -> None:
    """The agent's type says which pool it counts against; exempt types count against none."""
    row.play(world)


@table(
    Row("a subagent may start the types that the file allows; they count against no pool",
        given=NEST, call=do.spawn("s", "s1", type="review", parent="X"), verdict="approved",
        fields={"pool": "", "used": "0", "cap": ""}, used={"work": 1},
        slot={"s1": {"kind": "sub", "parent": "X", "pool": None}}),
    Row("everything else is refused with the allowed types, and makes no ticket",
        given=NEST, call=do.spawn("s", "s1", parent="X"), verdict="refused",
        fields={"cause": "nestedType", "allowed": "scout rev*", "place": "", "pool": "", "holders": "[]"},
        lines={"work": ""}, slots="s-X:running", events="spawn_refused"),
    Row("where the file allows none, none is allowed",
        given=[do.join("s"), do.runs("s", "X")], call=do.spawn("s", "s1", parent="X"), verdict="refused",
        fields={"cause": "nestedType", "allowed": ""}),
    Row("at most so many at once",
        given=[*NEST, do.spawn("s", "s1", type="scout", parent="X"), do.runs("s", "P", type="scout", parent="X")],
        call=do.spawn("s", "s3", type="scout", parent="X"), verdict="refused",
        fields={"cause": "nestedFull", "allowed": "scout rev*", "place": ""}, lines={"work": ""},
        events="spawn_refused"),
    Row("another subagent has its own number",
        given=[NESTED, do.join("s"), do.spawn("s", "s1", type="scout", parent="X"),
               do.spawn("s", "s2", type="scout", parent="X")],
        call=do.spawn("s", "s3", type="scout", parent="Y"), verdict="approved"),
    Row("a subagent of the same name in another session has its own number",
        given=[NESTED, *ST, do.spawn("s", "s1", type="scout", parent="X"),
               do.spawn("s", "s2", type="scout", parent="X")],
        call=do.spawn("t", "t1", type="scout", parent="X"), verdict="approved"),
    Row("a file that says no number allows one",
        given=[do.policy("w"), lambda world: world.policies.update(w='{"agents":{"nested":{"types":["scout"]}}}'),
               do.join("s"), do.spawn("s", "s1", type="scout", parent="X")],
        call=do.spawn("s", "s2", type="scout", parent="X"), verdict="refused", fields={"cause": "nestedFull"}),
    Row("its parent's own ending ones are settled first, oldest first, as many as needed",
        given=[*NEST, do.runs("s", "P", type="scout", parent="X"), do.step(1),
               do.runs("s", "Q", type="scout", parent="X"), do.stopped("s", "P"), do.stopped("s", "Q")],
        call=do.spawn("s", "s3", type="scout", parent="X"), verdict="approved",
        slots="s-X:running s-Q:ending s3:starting", events="run_ended spawn_approved"),
    Row("ending ones of another parent are left alone",
        given=[*NEST, do.runs("s", "P", "Q", type="scout", parent="X"), do.runs("s", "R", type="scout", parent="Y"),
               do.stopped("s", "R")],
        call=do.spawn("s", "s3", type="scout", parent="X"), verdict="refused", fields={"cause": "nestedFull"},
        slots="s-X:running s-P:running s-Q:running s-R:ending"),
    Row("nested agents never wait for a pool, so no parent waits for a child that waits for the parent's slot",
        given=[NESTED, *ST, do.runs("s", "X"), do.spawn("t", "t1")],
        call=do.spawn("s", "s1", type="scout", parent="X"), verdict="approved", lines={"work": "t"}),
    Row("types are compared lower-cased here too",
        given=NEST, call=do.spawn("s", "s1", type="Scout", parent="X"), verdict="approved"),
)  # fmt: skip
def test_nested(world: World, row: Row) -> None:
    """A subagent may start some types only, so many at once; they are counted for it and never hold a pool's slot."""
    row.play(world)


LOAD = do.pools("w", work={"cap": 3, "loadCaps": [[4, 2], [8, 1]]})
LESS, MORE = do.pools("less", work=1), do.pools("more", work=3)


@table(
    Row("over a threshold of the load the lower cap applies to new spawns",
        given=[LOAD, do.join("s"), do.runs("s", "X", "Y")], call=do.spawn("s", "s3", load="4.10"),
        verdict="refused", fields={"cause": "load", "used": "2", "cap": "2", "place": "1"},
        pools={"work": {"cap": 3, "effective": 2, "limitedBy": "load"}}, slots="s-X:running s-Y:running"),
    Row("at the threshold it does not apply yet",
        given=[LOAD, do.join("s"), do.runs("s", "X", "Y")], call=do.spawn("s", "s3", load="4.00"),
        verdict="approved", pools={"work": {"effective": 3, "limitedBy": None}}),
    Row("of several thresholds the strictest counts",
        given=[LOAD, do.join("s"), do.runs("s", "X")], call=do.spawn("s", "s2", load="9.00"), verdict="refused",
        fields={"cause": "load", "cap": "1"}),
    Row("running agents are never stopped by it; the pool is over its cap",
        given=[LOAD, do.join("s"), do.runs("s", "X", "Y", "Z")], call=do.spawn("s", "s4", load="9.00"),
        verdict="refused", fields={"cause": "full", "used": "3", "cap": "1"}, used={"work": 3}),
    Row("the cap is back with the load",
        given=[LOAD, do.join("s"), do.runs("s", "X", "Y"), do.spawn("s", "s3", load="4.10")],
        call=do.spawn("s", "s3"), verdict="approved", pools={"work": {"effective": 3, "limitedBy": None}}),
    Row("the highest load of any machine counts",
        given=[LOAD, do.join("s"), do.join("t", on="m2", load="9.00"), do.runs("s", "X")],
        call=do.spawn("s", "s2"), verdict="refused", fields={"cause": "load"}),
    Row("of several policies the strictest cap wins",
        given=[MORE, LESS, do.join("s", policy="more"), do.join("t", policy="less"), do.runs("s", "X")],
        call=do.spawn("s", "s2"), verdict="refused", fields={"cause": "policy", "used": "1", "cap": "1"},
        pools={"work": {"cap": 1, "effective": 1, "limitedBy": "policy"}}),
    Row("it does not matter which session came first",
        given=[MORE, LESS, do.join("t", policy="less"), do.join("s", policy="more"), do.runs("s", "X")],
        call=do.spawn("s", "s2"), verdict="refused", fields={"cause": "policy", "cap": "1"}),
    Row("a policy that does not name the pool has no say",
        given=[MORE, do.pools("other", docs=1), do.join("s", policy="more"), do.join("t", policy="other"),
               do.runs("s", "X")],
        call=do.spawn("s", "s2"), verdict="approved",
        pools={"work": {"cap": 3, "effective": 3, "limitedBy": None}}),
    Row("a job's policy has a say like a session's",
        given=[MORE, LESS, do.join("s", policy="more"), do.enqueue("j", policy="less"), do.runs("s", "X")],
        call=do.spawn("s", "s2"), verdict="refused", fields={"cause": "policy"}),
    Row("when nobody's policy says less any more the raise holds for the next request",
        given=[MORE, LESS, do.join("s", policy="more"), do.join("t", policy="less"), do.runs("s", "X"),
               do.leave("t")],
        call=do.spawn("s", "s2"), verdict="approved", pools={"work": {"effective": 3, "limitedBy": None}}),
    Row("over the highest cap it is simply full",
        given=[MORE, LESS, do.join("s", policy="more"), do.runs("s", "X", "Y", "Z"), do.join("t", policy="less")],
        call=do.spawn("s", "s4"), verdict="refused", fields={"cause": "full", "used": "3", "cap": "1"}),
)  # fmt: skip
def test_load_and_policies(world: World, row: Row) -> None:
    """The strictest cap of any live policy applies, and a lower one while the machine is busy."""
    row.play(world)
