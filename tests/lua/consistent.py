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
    _check_policies(board)
    _check_numbers(board)
    assert sorted(board.turns) == sorted(_turns(board)), "turns"
    assert set(board.ended) == set(board.ended_at), "tombstones and their times"
    if int(board.meta["settleUntil"]) <= now:
        _check_nobody_waits_beside_a_free_slot(board)


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
    assert set(board.waiting) == waiting, "waiting"
    assert set(board.running) == running, "running"
    assert set(board.deadlines) == grants, "deadlines"
    assert set(board.leases) == {f"j|{id_}" for id_ in board.jobs}, "leases"
    assert {m for m in board.nest if m[0] == "i"} == inside, "nest, inside"
    children = {f"c|{job['parent']}|{id_}" for id_, job in board.jobs.items() if job.get("parent")}
    assert {m for m in board.nest if m[0] == "c"} <= children, "nest, children"


def _members(job: dict[str, Any]) -> set[str]:
    lane, tail = f"{job['queue']}|{job['lane']}", f"{job['ticket']}|{job['id']}"
    return {f"q|{lane}|{tail}", f"o|{lane}|{job['owner']}|{tail}"}


def _check_policies(board: Snapshot) -> None:
    used = {job["policy"] for job in board.jobs.values()}
    assert set(board.policy_use) == {f"{job['policy']}|j|{id_}" for id_, job in board.jobs.items()}, "policyUse"
    assert used <= set(board.policies), "a policy in use is known"
    unused = set(board.policies) - used
    assert not unused or len(board.policies) == 1, f"policies without users: {unused}"
    named = {name for policy in board.policies.values() for name in policy["queues"]}
    assert set(board.limits) == named, "limits"
    assert board.meta.get("policyCount", "0") == str(len(board.policies)), "policyCount"


def _check_numbers(board: Snapshot) -> None:
    fences = [job["fence"] for job in board.jobs.values() if "fence" in job]
    tickets = [job["ticket"] for job in board.jobs.values()]
    assert len(set(fences)) == len(fences), "two jobs with one fence"
    assert len(set(tickets)) == len(tickets), "two jobs with one ticket"
    assert max(fences, default="") <= board.meta.get("fence", ""), "the fence counter went back"
    assert max(tickets, default="") <= board.meta.get("ticket", ""), "the ticket counter went back"


def _turns(board: Snapshot) -> list[str]:
    turns = []
    seen = {(job["queue"], job["lane"], job["owner"]) for job in board.jobs.values() if job["state"] == "waiting"}
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
