"""Pools, their lines, and the agents' slots."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from coord.names import clean

if TYPE_CHECKING:
    from coord.config.settings import Settings
    from coord.view.reading import Reading


def pools(reading: Reading, settings: Settings) -> dict[str, dict[str, Any]]:
    own: dict[str, dict[str, Any]] = json.loads(settings.policy_json).get("pools", {})
    board = reading.pool_limits if reading.lived_on else {}
    used = {slot["pool"] for slot in reading.slots.values() if slot.get("pool")}
    order = [name for name in settings.agents.pools if name in own]
    names = dict.fromkeys([*order, *own, *sorted(used | board.keys() | {wait["pool"] for wait in reading.line})])
    return {clean(name): _pool(name, own.get(name, {}), board.get(name, {}), reading) for name in names}


def _pool(name: str, own: dict[str, Any], board: dict[str, Any], reading: Reading) -> dict[str, Any]:
    """`cap` is that of the caller's configuration, else the board's; None: nobody who lives names this pool any more, and
    what is left of it runs out."""
    cap: int | None = own.get("cap", board.get("cap"))
    effective: int | None = board.get("effective", cap)
    slots = [slot for slot in _sorted(reading) if slot["pool"] == clean(name)]
    limited = board.get("limitedBy") if not own else None
    if own and effective is not None and cap is not None and effective < cap:
        limited = board.get("limitedBy", "policy")
    return {
        "cap": _whole(cap),
        "effectiveCap": _whole(effective),
        "limitedBy": limited,
        "used": len(slots),
        "held": sum(1 for hold in reading.holds if hold["pool"] == name),
        "overBy": 0 if effective is None else max(0, len(slots) - int(effective)),
        "line": _line(name, reading),
        "slots": slots,
    }


def _line(pool: str, reading: Reading) -> list[dict[str, Any]]:
    """In ticket order; a ticket is the microseconds of its moment (or one more than the last)."""
    until = {hold["session"]: hold.get("until") for hold in reading.holds if hold["pool"] == pool}
    return [
        {
            "session": clean(wait["session"]),
            "label": _letter(wait["session"], reading),
            "since": int(wait["ticket"]) // 1000,
            "holdUntil": _whole(until.get(wait["session"])),
        }
        for wait in reading.line
        if wait["pool"] == pool
    ]


def unpooled(reading: Reading) -> list[dict[str, Any]]:
    """Slots of exempt and nested agents, and of those whose session has no pools."""
    return [slot for slot in _sorted(reading) if slot["pool"] is None]


def agents_of(session: str, reading: Reading) -> list[str]:
    """The slots of a session, by their ids."""
    return [id for id, slot in reading.slots.items() if slot["session"] == session]


def _sorted(reading: Reading) -> list[dict[str, Any]]:
    """All slots by their sessions' letters, those of a session oldest first."""
    ids = list(reading.sessions)
    place = {id: at for at, id in enumerate(ids)}
    slots = sorted(
        reading.slots.items(), key=lambda one: (place.get(one[1]["session"], len(ids)), one[1]["since"], one[0])
    )
    return [_slot(id, slot, reading) for id, slot in slots]


def _slot(id: str, record: dict[str, Any], reading: Reading) -> dict[str, Any]:
    return {
        "id": clean(id),
        "session": clean(record["session"]),
        "label": _letter(record["session"], reading),
        "agent": _text(record.get("agent")),
        "parent": _text(record.get("parent")),
        "type": clean(str(record["type"])),
        "pool": _text(record.get("pool")),
        "state": record["state"],
        "since": int(record["since"]),
        "unqueued": record.get("unqueued"),
    }


def _letter(session: str, reading: Reading) -> str | None:
    letter = reading.letter(session)
    return clean(letter) if letter else None


def _text(value: Any) -> str | None:
    return clean(str(value)) if value else None


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)
