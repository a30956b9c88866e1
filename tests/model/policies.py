"""The effective limits of a queue, from the design's words: smallest of what live policies name, order of the newest."""

from __future__ import annotations

from typing import Any

Policy = dict[str, Any]


def smaller(*limits: int | None) -> int | None:
    """The smallest limit that is one; None: there is no limit."""
    known = [limit for limit in limits if limit is not None]
    return min(known) if known else None


def speakers(policies: dict[str, Policy], queue: str) -> list[dict[str, Any]]:
    """What the live policies say of a queue, oldest first. Those made without a file speak only where no file does."""
    for fallback in (False, True):
        said = [
            policy["queues"][queue]
            for policy in policies.values()
            if bool(policy.get("fallback")) == fallback and queue in policy.get("queues", {})
        ]
        if said:
            return said
    return []


def thresholds(policies: dict[str, Policy]) -> list[float]:
    """Every load at which some live policy lowers something."""
    return [
        load
        for policy in policies.values()
        for one in [*policy.get("queues", {}).values(), *policy.get("pools", {}).values()]
        for load, _ in one.get("loadCaps", [])
    ]


def lease_of(policies: dict[str, Policy]) -> int:
    """The board-wide lease: the longest that a live policy asks for, 2 s at least."""
    asked: list[int] = [policy.get("leaseMs", 10000) for policy in policies.values()]
    return max([2000, *asked])


def limits(policies: dict[str, Policy], queue: str, load: float) -> dict[str, Any] | None:
    """The effective values of a queue as the board keeps them, None when no live policy names it."""
    said = speakers(policies, queue)
    if not said:
        return None
    slots = min(one["slots"] for one in said)
    effective = min([slots, *(n for one in said for above, n in one.get("loadCaps", []) if load > above)])
    lanes = _lanes(said)
    result = {
        "slots": slots,
        "effective": effective,
        "order": said[-1].get("order", "fifo"),
        "timeLimitMs": smaller(*(one.get("timeLimitMs") for one in said)),
        "lanes": lanes,
        "laneOrder": sorted(lanes, key=lambda name: (-lanes[name]["priority"], name)),
        "reserved": sum(lane["reserved"] for lane in lanes.values()),
        "limitedBy": None,
    }
    if effective < slots:
        result["limitedBy"] = "load"
    elif len({one["slots"] for one in said}) > 1:
        result["limitedBy"] = "policy"
    return result


def _lanes(said: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    lanes: dict[str, dict[str, Any]] = {"default": {"priority": 0, "reserved": 0, "max": None}}
    named = {name for one in said for name in one.get("lanes", {})}
    for name in named:
        terms = [one["lanes"][name] for one in said if name in one.get("lanes", {})]
        lanes[name] = {
            "priority": terms[-1].get("priority", 0),
            "reserved": min(term.get("reserved", 0) for term in terms),
            "max": smaller(*(term.get("max") for term in terms)),
        }
    return lanes


def admits(terms: dict[str, Any], lane: str, running: dict[str, int]) -> bool:
    """Whether one job more of `lane` may start beside so many running ones of each lane."""
    own = terms["lanes"].get(lane)
    free = terms["effective"] - sum(running.values())
    if own is None or free <= 0 or (own["max"] is not None and running.get(lane, 0) >= own["max"]):
        return False
    if terms["effective"] <= terms["reserved"] or running.get(lane, 0) < own["reserved"]:
        return True
    unmet = sum(
        max(0, other["reserved"] - running.get(name, 0)) for name, other in terms["lanes"].items() if name != lane
    )
    return bool(free - unmet > 0)
