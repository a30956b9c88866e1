"""What sessions and pools look like on the board, and what the model says that they must look like."""

from __future__ import annotations

from typing import Any

from tests.model.picture import Picture
from tests.model.picture import expected as queues_expected
from tests.model.pools.model import PoolModel
from tests.model.pools.things import Session, Slot

SESSION = ("label", "hostSession", "machine", "process", "bridge", "cwd", "policy", "joined", "bridgeLostAt")
SLOT = ("session", "agent", "parent", "kind", "type", "pool", "state", "since", "unqueued")


def plain(picture: Picture) -> dict[str, Any]:
    """What is compared with the model."""
    limits = picture.hash["limits"]
    return {
        **picture.plain(),
        "sessions": {id: {name: one.get(name) for name in SESSION} for id, one in picture.hash["sessions"].items()},
        "slots": {
            id: {**{name: one.get(name) for name in SLOT}, "absent": bool(one.get("absent"))}
            for id, one in picture.hash["slots"].items()
        },
        "labels": picture.labels,
        "caps": {name[2:]: {"limitedBy": None, **one} for name, one in limits.items() if name[0] == "p"},
        "pause": _pause(picture),
    }


def _pause(picture: Picture) -> dict[str, Any]:
    if not picture.pause:
        return {}
    held = {key[5:]: int(left) for key, left in picture.pause.items() if key.startswith("hold|")}
    told = {name: picture.pause.get(name, "") for name in ("by", "label", "reason")}
    return {**told, "since": int(picture.pause["since"]), "held": held}


def expected(model: PoolModel) -> dict[str, Any]:
    """What `plain` must be."""
    ours = queues_expected(model)
    sessions, slots, line = model.sessions.values(), model.slots.values(), model.line.values()
    pools = {pool for said in model.policies.values() for pool in said.get("pools", {})}
    start = {"starting": "start", "ending": "end"}
    ours["policyUse"] |= {f"{session.policy}|s|{session.id}" for session in sessions}
    ours["leases"] |= {f"s|{session.id}": session.lease for session in sessions}
    ours["deadlines"] |= {f"{start[slot.state]}|{slot.id}": slot.deadline for slot in slots if slot.state in start}
    ours["deadlines"] |= {f"hold|{p.queue}|{p.session}": p.until for p in line if p.until is not None}
    return {
        **ours,
        "sessions": {session.id: _session(session) for session in sessions},
        "labels": {session.label: session.id for session in sessions},
        "slots": {slot.id: _slot(slot) for slot in slots},
        "seats": {f"s|{slot.session}|{slot.id}" for slot in slots}
        | {f"p|{slot.pool}|{slot.id}" for slot in slots if slot.pool},
        "line": {f"p|{p.queue}|{p.ticket:016d}|{p.session}" for p in line}
        | {f"s|{p.session}|{p.queue}|{p.ticket:016d}" for p in line},
        "holds": {f"{p.queue}|{p.session}" for p in line if p.held},
        "caps": {pool: model.caps(pool) for pool in pools},
        "pause": _pause_of(model),
    }


def _pause_of(model: PoolModel) -> dict[str, Any]:
    if model.pause is None:
        return {}
    told, standing = model.pause, {key for key, place in model.line.items() if place.held}
    held = {"|".join(key): left for key, left in told.held.items() if key in standing}
    return {"by": told.by, "label": told.label, "reason": told.reason, "since": told.since, "held": held}


def _session(one: Session) -> dict[str, Any]:
    values = (
        one.label, one.host_session, one.machine, one.process, one.bridge, one.cwd, one.policy, one.joined,
        one.bridge_lost_at,
    )  # fmt: skip
    return dict(zip(SESSION, values, strict=True))


def _slot(one: Slot) -> dict[str, Any]:
    values = (
        one.session, one.agent, one.parent, one.kind, one.type, one.pool, one.state, one.since, one.unqueued,
    )  # fmt: skip
    return {**dict(zip(SLOT, values, strict=True)), "absent": one.absent}
