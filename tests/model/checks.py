"""The invariants of the design (20) that concern queues, checked on the board itself, without the model's opinion."""

from __future__ import annotations

from typing import Any

from coord.answers import Answer
from tests.model.picture import Picture
from tests.model.policies import admits
from tests.model.replay import replay
from tests.model.rules import Rules

GRANTS = ("job_granted", "job_started")


def all_of(name: str, machine: str, before: Picture, after: Picture, model: Rules) -> None:
    """After every step. `before` is the board as the step found it."""
    new = after.events[len(before.events) :]
    assert not after.strange, f"keys outside the scope's: {after.strange}"
    assert after.zero, "a lexical set has a score"
    nobody_waits_beside_a_free_slot(after)
    in_ticket_order(before, after, new)
    within_the_limits(before, after, new)
    fences_grow(before, after, new)
    nothing_stays(after)
    own_machine_is_never_reaped_by_age(machine, before, after)
    assert replay(after.events) == standing(after), "the events tell another story than the board"


def nobody_waits_beside_a_free_slot(after: Picture) -> None:
    """3. Not settling: no free slot stands beside a waiting job that its lane admits."""
    if int(after.meta.get("settleUntil", 0)) > int(after.meta.get("lastOp", 0)):
        return
    for id, job in after.jobs.items():
        limits = after.hash["limits"].get(f"q|{job['queue']}")
        if job["state"] == "waiting":
            assert limits is not None, f"nobody serves the queue of {id}"
            assert not admits(_terms(limits), job["lane"], lanes(after, job["queue"])), f"{id} could start and waits"


def in_ticket_order(before: Picture, after: Picture, new: list[dict[str, str]]) -> None:
    """4. A line is served in ticket order: who is granted a slot leaves nobody earlier waiting in its fifo lane."""
    if before.hash["limits"] != after.hash["limits"]:
        return  # granted under one policy, read under another: the next step is checked
    passed = {event["job"] for event in new if event["type"] == "job_away"}
    for event in new:
        if event["type"] != "job_granted" or event["job"] not in after.jobs:
            continue
        if after.hash["limits"].get(f"q|{event['queue']}", {}).get("order") != "fifo":
            continue
        ticket = after.jobs[event["job"]]["ticket"]
        for id, job in after.jobs.items():
            if (job["queue"], job["lane"], job["state"]) == (event["queue"], event["lane"], "waiting"):
                late = id in passed or before.jobs.get(id, {}).get("state") != "waiting"
                assert late or job["ticket"] > ticket, f"{event['job']} was served before {id}: {new}"


def within_the_limits(before: Picture, after: Picture, new: list[dict[str, str]]) -> None:
    """5. Whoever grants a slot stays within the effective slots, the lane's max and the places reserved for others."""
    if before.hash["limits"] != after.hash["limits"]:
        return
    if any(event["type"] in ("reregistered", "job_inherited") for event in new):
        return  # what runs already counts, whatever the caps say
    starts = [event for event in new if event["type"] in GRANTS and not event.get("inside")]
    granted = {event["job"] for event in starts if (before.jobs.get(event["job"]) or {}).get("state") != "granted"}
    for id in granted & set(after.jobs):
        job = after.jobs[id]
        limits, count = _terms(after.hash["limits"][f"q|{job['queue']}"]), lanes(after, job["queue"])
        assert sum(count.values()) <= limits["effective"], f"{id}: {count} run in {limits['effective']} slots"
        most = limits["lanes"][job["lane"]]["max"]
        assert most is None or count[job["lane"]] <= most, f"{id}: {count} run, the lane's max is {most}"


def fences_grow(before: Picture, after: Picture, new: list[dict[str, str]]) -> None:
    """6. Every grant has a fence of its own; they strictly increase in the order of the grants."""
    granted = [event for event in new if event["type"] in GRANTS]
    fences = [int(event["fence"]) for event in granted if not _confirms(event, before, granted)]
    assert fences == sorted(set(fences)), f"fences out of order: {fences}"
    if fences:
        assert fences[0] > int(before.meta.get("fence", 0)), "a fence went back"
    held = [job["fence"] for job in after.jobs.values() if "fence" in job]
    assert len(held) == len(set(held)), f"two jobs have one fence: {held}"


def _confirms(event: dict[str, str], before: Picture, granted: list[dict[str, str]]) -> bool:
    """Whether a `job_started` only confirms a grant, of before or of this very step."""
    told = [other for other in granted if other["type"] == "job_granted" and other["fence"] == event["fence"]]
    known = before.jobs.get(event["job"], {}).get("fence") == event["fence"]
    return event["type"] == "job_started" and (known or bool(told))


def nothing_stays(after: Picture) -> None:
    """7. After a job is gone nothing of it stays but its `ended` entry."""
    jobs = set(after.jobs)
    for name, at in (("waiting", -1), ("running", -1), ("nest", 2), ("policyUse", 2)):
        members = [parts for parts in map(_parts, after.lexical[name]) if name != "policyUse" or parts[1] == "j"]
        assert {parts[at] for parts in members} <= jobs, f"{name} names a job that is gone"
    for name, kind in (("leases", "j"), ("deadlines", "grant")):
        named = {parts[1] for parts in map(_parts, after.scored[name]) if parts[0] == kind}
        assert named <= jobs, f"{name} names a job that is gone"
    assert not jobs & set(after.hash["ended"]), "a job is on the board and has ended"
    assert set(after.hash["ended"]) == set(after.scored["endedAt"])
    assert {f"j|{id}" for id in jobs} <= set(after.scored["leases"]), "a job without a lease"


def _parts(member: str) -> list[str]:
    return member.split("|")


def own_machine_is_never_reaped_by_age(machine: str, before: Picture, after: Picture) -> None:
    """8. No participant is reaped by age by its own machine."""
    for id, job in before.jobs.items():
        how = after.hash["ended"].get(id)
        if id not in after.jobs and how and how.get("cause") == "its lease lapsed":
            assert job["machine"] != machine, f"{id} was reaped by age by its own machine"


def standing(after: Picture) -> dict[str, Any]:
    """9. What replaying the events must give: jobs, lines and slots."""
    running = {member.split("|")[-1] for member in after.lexical["running"]}
    waiting = {member.split("|")[-1] for member in after.lexical["waiting"]}
    names = ("queue", "lane", "owner", "state", "ticket", "fence", "inside")
    return {
        id: {**{name: job.get(name) for name in names}, "waits": id in waiting, "holds": id in running}
        for id, job in after.jobs.items()
    }


def lanes(after: Picture, queue: str) -> dict[str, int]:
    """How many slots each lane of a queue holds."""
    count: dict[str, int] = {}
    for member in after.lexical["running"]:
        kind, name, lane, *_ = member.split("|")
        if (kind, name) == ("q", queue):
            count[lane] = count.get(lane, 0) + 1
    return count


def _terms(limits: dict[str, Any]) -> dict[str, Any]:
    return {**limits, "lanes": {name: {"max": None, **lane} for name, lane in limits["lanes"].items()}}


def told(answer: Answer) -> dict[str, Any]:
    """An answer in the model's words."""
    fields: dict[str, Any] = {"verdict": answer.verdict, **answer.fields}
    for name in ("fence", "ticket", "queuedAt", "at", "place"):
        if fields.get(name):
            fields[name] = int(fields[name])
    if "limitMs" in fields:
        fields["limitMs"] = int(float(fields["limitMs"])) if fields["limitMs"] else None
    if "about" in fields:
        fields["about"] = bool(fields["about"])
    for name in ("holders", "ahead"):
        if name in fields:
            fields[name] = {job["id"] for job in getattr(answer, name)}
    if "pids" in fields:
        import json

        fields["pids"] = json.loads(fields["pids"])
    return fields


def difference(theirs: Any, ours: Any) -> str:
    """Where two sides differ, short enough to read."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        keys = [key for key in {**ours, **theirs} if ours.get(key) != theirs.get(key)]
        return "; ".join(f"{key}: board {theirs.get(key)}, model {ours.get(key)}" for key in keys)
    if isinstance(ours, set):
        return f"only on the board {theirs - ours}, only in the model {ours - theirs}"
    return f"board {theirs}, model {ours}"
