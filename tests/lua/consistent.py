"""What must hold on every board after every call (20-board.md's invariants that a single picture can show)."""

from __future__ import annotations

from typing import Any

from tests.lua.snapshot import Snapshot

SEATED = ("granted", "running", "stopped", "orphaned")


def check(board: Snapshot, now: int) -> None:
    """Fails with the first thing on the board that does not fit the rest."""
    if not board.meta.get("epoch"):
        return
    _check_members(board)
    _check_slots(board)
    _check_lines(board)
    _check_policies(board)
    _check_numbers(board)
    assert sorted(board.turns) == sorted(_turns(board)), "turns"
    assert set(board.ended) == set(board.ended_at), "tombstones and their times"
    if int(board.meta["settleUntil"]) <= now and not board.pause:
        _check_nobody_waits_beside_a_free_slot(board)
        _check_pools_serve_their_lines(board, now)


def check_step(before: Snapshot, after: Snapshot, now: int) -> None:
    """What must hold of the change that one call made."""
    known = {id_ for id_, _ in before.events}
    approved = {e["slot"] for id_, e in after.events if e["type"] == "spawn_approved" and id_ not in known}
    for pool, limits in after.pools.items():
        counted = after.counted(pool)
        if approved.intersection(counted):
            assert len(counted) <= limits["effective"], f"{pool}: approved over the cap"
        for session in set(after.held_by(pool)) - set(before.held_by(pool)):
            earlier = [one for one in after.in_line(pool) if after.ticket(pool, one) < after.ticket(pool, session)]
            passed = [one for one in earlier if after.leases[f"s|{one}"] > now and one not in after.held_by(pool)]
            assert not passed, f"{pool}: {session} is served before {passed}"


def _check_members(board: Snapshot) -> None:
    waiting: set[str] = set()
    running: set[str] = set()
    inside, grants = set(), set()
    for id_, job in board.jobs.items():
        assert job["id"] == id_
        members = _members(job)
        if job["state"] == "waiting":
            waiting |= members
        elif job["state"] in SEATED and job.get("inside"):
            inside.add(f"i|{job['inside']}|{id_}")
            assert not board.jobs[job["inside"]].get("inside"), "nobody runs inside a job without a slot of its own"
        elif job["state"] in SEATED:
            running |= members
        else:
            assert job["state"] == "away" and "fence" not in job, job
        if job["state"] == "granted":
            grants.add(f"grant|{id_}")
    for id_, slot in board.slots.items():
        if slot["state"] != "running":
            grants.add(("start|" if slot["state"] == "starting" else "end|") + id_)
    held = {f"hold|{member}" for member in board.holds}
    if board.pause:
        assert {name for name in board.pause if name.startswith("hold|")} == held, "holds while paused"
    else:
        grants |= held
    assert set(board.waiting) == waiting, "waiting"
    assert set(board.running) == running, "running"
    assert set(board.deadlines) == grants, "deadlines"
    assert set(board.leases) == {f"j|{id_}" for id_ in board.jobs} | {f"s|{id_}" for id_ in board.sessions}, "leases"
    assert {m for m in board.nest if m[0] == "i"} == inside, "nest, inside"
    children = {f"c|{job['parent']}|{id_}" for id_, job in board.jobs.items() if job.get("parent")}
    assert {m for m in board.nest if m[0] == "c"} <= children, "nest, children"


def _members(job: dict[str, Any]) -> set[str]:
    lane, tail = f"{job['queue']}|{job['lane']}", f"{job['ticket']}|{job['id']}"
    return {f"q|{lane}|{tail}", f"o|{lane}|{job['owner']}|{tail}"}


def _check_slots(board: Snapshot) -> None:
    assert board.labels == {session["label"]: id_ for id_, session in board.sessions.items()}, "labels"
    seats: set[str] = set()
    agents = []
    for id_, slot in board.slots.items():
        assert slot["session"] in board.sessions, f"{id_} is of no session"
        assert slot["state"] in ("starting", "running", "ending"), slot
        assert slot["kind"] == "main" or "pool" not in slot, "nested agents count against no pool"
        seats |= {f"s|{slot['session']}|{id_}"} | ({f"p|{slot['pool']}|{id_}"} if "pool" in slot else set())
        if slot["state"] != "starting":
            agents.append((slot["session"], slot["agent"]))
    assert set(board.seats) == seats, "seats"
    assert len(set(agents)) == len(agents), "two slots of one agent"


def _check_lines(board: Snapshot) -> None:
    places = [member.split("|")[1:] for member in board.line if member[0] == "p"]
    twins = {f"s|{session}|{pool}|{ticket}" for pool, ticket, session in places}
    assert {member for member in board.line if member[0] == "s"} == twins, "line"
    assert {session for _, _, session in places} <= set(board.sessions), "in line without a session"
    once = {f"{pool}|{session}" for pool, _, session in places}
    assert len(once) == len(places), "twice in one line"
    assert set(board.holds) <= once, "a hold without a place in line"


def _check_pools_serve_their_lines(board: Snapshot, now: int) -> None:
    for pool, limits in board.pools.items():
        used, held = len(board.counted(pool)), board.held_by(pool)
        assert not held or used + len(held) <= limits["effective"], f"{pool}: a hold without room"
        if used + len(held) < limits["effective"]:
            waits = [one for one in board.in_line(pool) if one not in held and board.leases[f"s|{one}"] > now]
            assert not waits, f"{pool}: {waits} wait beside a free slot"


def _check_policies(board: Snapshot) -> None:
    used = {one["policy"] for one in [*board.jobs.values(), *board.sessions.values()]}
    users = {f"{job['policy']}|j|{id_}" for id_, job in board.jobs.items()}
    users |= {f"{session['policy']}|s|{id_}" for id_, session in board.sessions.items()}
    assert set(board.policy_use) == users, "policyUse"
    assert used <= set(board.policies), "a policy in use is known"
    unused = set(board.policies) - used
    assert not unused or len(board.policies) == 1, f"policies without users: {unused}"
    named = {name for policy in board.policies.values() for name in policy.get("queues", {})}
    assert set(board.limits) == named, "limits"
    caps: dict[str, list[int]] = {}
    for policy in board.policies.values():
        for name, pool in policy.get("pools", {}).items():
            caps.setdefault(name, []).append(pool["cap"])
    assert {name: limits["cap"] for name, limits in board.pools.items()} == {n: min(c) for n, c in caps.items()}, (
        "pools"
    )
    assert board.meta.get("policyCount", "0") == str(len(board.policies)), "policyCount"


def _check_numbers(board: Snapshot) -> None:
    fences = [job["fence"] for job in board.jobs.values() if "fence" in job]
    tickets = [job["ticket"] for job in board.jobs.values()]
    tickets += [member.split("|")[2] for member in board.line if member[0] == "p"]
    assert len(set(fences)) == len(fences), "two jobs with one fence"
    assert len(set(tickets)) == len(tickets), "two with one ticket"
    assert max(fences, default="") <= board.meta.get("fence", ""), "the fence counter went back"
    assert max(tickets, default="") <= board.meta.get("ticket", ""), "the ticket counter went back"


def _turns(board: Snapshot) -> list[str]:
    turns = []
    fair = {name for name, limits in board.limits.items() if limits.get("order") == "fair-share"}
    waiting = [job for job in board.jobs.values() if job["state"] == "waiting" and job["queue"] in fair]
    seen = {(job["queue"], job["lane"], job["owner"]) for job in waiting}
    for queue, lane, owner in seen:
        running = sum(m.split("|")[1] == queue and m.split("|")[3] == owner for m in board.running if m[0] == "o")
        served = int(board.served.get(f"{queue}|{owner}", 0))
        turns.append(f"{queue}|{lane}|{running:06}|{served:016}|{owner}")
    return turns


def _check_nobody_waits_beside_a_free_slot(board: Snapshot) -> None:
    for job in board.jobs.values():
        if job["state"] == "waiting":
            assert not admits(board, job["queue"], job["lane"]), f"{job['id']} waits beside a free slot"


def admits(board: Snapshot, queue: str, lane: str) -> bool:
    """The lanes' rule of 20-board.md, said once more in Python."""
    limits = board.limits[queue]
    lanes = limits["lanes"]
    running = {name: sum(m.startswith(f"q|{queue}|{name}|") for m in board.running) for name in lanes}
    free = limits["effective"] - sum(running.values())
    mine = lanes[lane]
    if free <= 0 or running[lane] >= mine.get("max", 1e9):
        return False
    reserved = sum(other["reserved"] for other in lanes.values())
    if limits["effective"] <= reserved or running[lane] < mine["reserved"]:
        return True
    unmet = [max(0, other["reserved"] - running[name]) for name, other in lanes.items() if name != lane]
    return bool(free > sum(unmet))
