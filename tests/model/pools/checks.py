"""The invariants of the design (20) that concern sessions and pools, checked on the board, without the model's opinion."""

from __future__ import annotations

import json
from typing import Any

from coord.answers import Answer
from tests.model import checks as queues
from tests.model.picture import Picture
from tests.model.pools.replay import replay, standing
from tests.model.rules import Rules

OWN = ("joined", "alive", "left", "approved", "refused", "started", "ending", "synced", "paused", "resumed")


def all_of(name: str, machine: str, before: Picture, after: Picture, model: Rules) -> None:
    """After every step. `before` is the board as the step found it."""
    new = after.events[len(before.events) :]
    assert not after.strange, f"keys outside the scope's: {after.strange}"
    assert after.zero, "a lexical set has a score"
    approvals_keep_to_the_cap(after, new)
    holds_fit(after)
    nobody_waits_beside_a_free_slot(after)
    in_ticket_order(before, after, new)
    queues.within_the_limits(before, after, new)
    queues.fences_grow(before, after, new)
    queues.nothing_stays(after)
    nothing_of_a_session_stays(after)
    own_machine_is_never_reaped_by_age(machine, before, after)
    nested_agents_hold_no_place(after)
    nothing_is_given_while_paused(before, after, new)
    told, jobs = replay(after.events)
    assert told == standing(after), "the events tell another story than the board"
    assert jobs == queues.standing(after), "the events tell another story of the jobs than the board"


def _effective(board: Picture, pool: str) -> int | None:
    found: int | None = board.hash["limits"].get(f"p|{pool}", {}).get("effective")
    return found


def _used(board: Picture, pool: str) -> int:
    return sum(1 for member in board.lexical["seats"] if member.startswith(f"p|{pool}|"))


def _held(board: Picture, pool: str) -> int:
    return sum(1 for member in board.lexical["holds"] if member.startswith(f"{pool}|"))


def _gives(board: Picture) -> bool:
    """Whether anything is given now: not settling, not paused."""
    return int(board.meta.get("settleUntil", 0)) <= int(board.meta.get("lastOp", 0)) and not board.pause


def approvals_keep_to_the_cap(after: Picture, new: list[dict[str, str]]) -> None:
    """1. A pool never has more counted slots than its effective cap through approvals."""
    for event in new:
        if event["type"] == "spawn_approved" and event["pool"]:
            cap = _effective(after, event["pool"])
            assert cap is None or _used(after, event["pool"]) <= cap, f"approved over the cap: {event}"


def holds_fit(after: Picture) -> None:
    """2. used + holds ≤ effective cap after every promote; over it by what may exceed it, no hold is left."""
    for name in after.hash["limits"]:
        pool = name[2:]
        if name[0] == "p" and _gives(after) and _held(after, pool):
            used, held, cap = _used(after, pool), _held(after, pool), _effective(after, pool)
            assert cap is not None and used + held <= cap, f"{pool}: {used} used and {held} held of {cap}"


def nobody_waits_beside_a_free_slot(after: Picture) -> None:
    """3. Not paused, not settling: no free slot stands beside a waiting session that lives without a hold, or a job."""
    if not _gives(after):
        return
    queues.nobody_waits_beside_a_free_slot(after)
    for member in after.lexical["line"]:
        kind, pool, _, session = member.split("|")
        cap = _effective(after, pool)
        late = after.scored["leases"][f"s|{session}"] <= int(after.meta["lastOp"]) if kind == "p" else True
        if kind == "p" and cap is not None and not late and f"{pool}|{session}" not in after.lexical["holds"]:
            assert _used(after, pool) + _held(after, pool) >= cap, f"{session} waits beside a free slot of {pool}"


def in_ticket_order(before: Picture, after: Picture, new: list[dict[str, str]]) -> None:
    """4. A line is served in ticket order; a session is in a line at most once per pool."""
    lines = [member.split("|") for member in after.lexical["line"] if member[0] == "p"]
    assert len({(pool, session) for _, pool, _, session in lines}) == len(lines), f"twice in one line: {lines}"
    turned = {f"s|{session}|{pool}|{ticket}" for _, pool, ticket, session in lines}
    assert turned == {member for member in after.lexical["line"] if member[0] == "s"}, (
        "the two sides of the lines differ"
    )
    at = {(pool, session): ticket for _, pool, ticket, session in lines}
    for event in new:
        key = (event.get("pool", ""), event.get("session", ""))
        if event["type"] != "hold_given" or key not in at or "|".join(key) not in after.lexical["holds"]:
            continue
        for (pool, session), ticket in at.items():
            waits = pool == key[0] and ticket < at[key] and f"{pool}|{session}" not in after.lexical["holds"]
            late = after.scored["leases"][f"s|{session}"] <= int(after.meta["lastOp"])
            assert not waits or late, f"{key} was served before {session}"
    if before.hash["limits"] == after.hash["limits"]:
        queues.in_ticket_order(before, after, new)


def nothing_of_a_session_stays(after: Picture) -> None:
    """7. After a session is gone nothing of it stays but its `ended` entry; nor of a slot."""
    sessions, slots = set(after.hash["sessions"]), after.hash["slots"]
    assert {one["session"] for one in slots.values()} <= sessions, "a slot without a session"
    assert {member for member in after.lexical["seats"] if member[0] == "s"} == {
        f"s|{one['session']}|{id}" for id, one in slots.items()
    }, "seats of sessions and slots differ"
    assert {member.split("|")[2] for member in after.lexical["seats"] if member[0] == "p"} <= set(slots)
    assert {member.split("|")[1] for member in after.lexical["line"] if member[0] == "s"} <= sessions
    assert {member.split("|")[1] for member in after.lexical["holds"]} <= sessions
    assert set(after.labels.values()) == sessions, "letters and sessions differ"
    assert {f"s|{id}" for id in sessions} == {member for member in after.scored["leases"] if member[0] == "s"}
    assert {f"s|{id}" for id in sessions} == {
        "s|" + member.split("|")[2] for member in after.lexical["policyUse"] if member.split("|")[1] == "s"
    }, "users of policies and sessions differ"
    assert not sessions & set(after.hash["ended"]), "a session is on the board and has ended"
    for member in after.scored["deadlines"]:
        kind, *rest = member.split("|")
        assert kind not in ("start", "end") or rest[0] in slots, f"a deadline of nothing: {member}"
        assert kind != "hold" or "|".join(rest) in after.lexical["holds"], f"a deadline of nothing: {member}"


def own_machine_is_never_reaped_by_age(machine: str, before: Picture, after: Picture) -> None:
    """8. No participant is reaped by age by its own machine."""
    queues.own_machine_is_never_reaped_by_age(machine, before, after)
    for id, one in before.hash["sessions"].items():
        how = after.hash["ended"].get(id, {})
        reaped = id not in after.hash["sessions"] and how.get("cause") == "its lease lapsed"
        assert not reaped or one["machine"] != machine, f"{id} was reaped by age by its own machine"


def nested_agents_hold_no_place(after: Picture) -> None:
    """11. Nested agents hold no pool slot."""
    for id, slot in after.hash["slots"].items():
        assert slot["kind"] != "sub" or "pool" not in slot, f"a nested agent counts against {slot['pool']}"
        if "pool" in slot:
            assert f"p|{slot['pool']}|{id}" in after.lexical["seats"], f"{id} does not count"


def nothing_is_given_while_paused(before: Picture, after: Picture, new: list[dict[str, str]]) -> None:
    """While it is paused nothing is approved, granted or promoted, and holds do not age."""
    if before.pause and after.pause:
        given = {"spawn_approved", "hold_given", "hold_withdrawn", "hold_lapsed", "job_granted"}
        assert not given & {event["type"] for event in new}, f"given while paused: {new}"


def told(answer: Answer) -> dict[str, Any]:
    """An answer in the model's words."""
    if answer.verdict not in OWN or "fence" in answer.fields:  # an agent starts, and so does a job
        return queues.told(answer)
    fields: dict[str, Any] = {"verdict": answer.verdict, **answer.fields}
    for name in ("used", "cap", "overBy", "waitingJobs"):
        if name in fields:
            fields[name] = int(fields[name]) if fields[name] else None
    if fields.get("place"):
        fields["place"] = int(fields["place"])
    for name in ("alone", "was", "sync"):
        fields[name] = fields.get(name) == "1"
    for name in ("others", "holds", "line", "holders", "watch", "files", "started"):
        if name in fields:
            fields[name] = json.loads(fields[name])
    return _lists(fields)


def _lists(fields: dict[str, Any]) -> dict[str, Any]:
    if "paused" in fields:
        fields["paused"] = json.loads(fields["paused"]) if fields["paused"] else None
    if "others" in fields:
        fields["others"] = [other["id"] for other in fields["others"]]
    if "holds" in fields:
        fields["holds"] = {one["pool"]: (int(one["ticket"]), one.get("until")) for one in fields["holds"]}
        fields["line"] = {one["pool"]: (int(one["ticket"]), one["place"]) for one in fields["line"]}
        fields["watch"] = {one["id"] for one in fields["watch"]}
        fields["pools"] = [(one["name"], one["used"], one.get("cap")) for one in json.loads(fields["pools"])]
    elif "pools" in fields:
        fields["pools"] = set(fields["pools"].split())
    if "holders" in fields:
        fields["holders"] = [(one["label"], one["n"]) for one in fields["holders"]]
    return fields
