"""Queues and their jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from coord.config.settings import DEFAULT_LANE, Queue
from coord.liveness import SEATED
from coord.names import clean

if TYPE_CHECKING:
    from coord.config.settings import Settings
    from coord.view.reading import Reading

_NO_LANE = {"priority": 0, "reserved": 0, "max": None}


def queues(reading: Reading, settings: Settings) -> dict[str, dict[str, Any]]:
    used = {job["queue"] for job in reading.jobs.values()}
    names = dict.fromkeys([*settings.queues, *sorted(used | reading.limits.keys())])
    return {clean(name): _queue(name, settings.queues.get(name), reading) for name in names}


def _queue(name: str, own: Queue | None, reading: Reading) -> dict[str, Any]:
    # The last policy stays on the board when its users are gone. Then it binds nobody, and ours will replace it.
    board = reading.limits.get(name, {}) if reading.lived_on or own is None else {}
    queue = own or Queue(name, board.get("slots", 1))
    effective = board.get("effective", queue.slots)
    limited = board.get("limitedBy") if own is None else None
    if effective < queue.slots:
        limited = board.get("limitedBy", "policy")
    placed = [job for id in reading.order if (job := reading.jobs.get(id)) and job["queue"] == name]
    away = [job for job in _by_ticket(reading, name) if job["state"] == "away"]
    seated = [job for job in _by_ticket(reading, name) if job["state"] in SEATED]
    return {
        "slots": queue.slots,
        "effectiveSlots": effective,
        "limitedBy": limited,
        "order": board.get("order", queue.order),
        "lanes": _lanes(board.get("lanes"), queue),
        "running": [_job(job) for job in seated],
        "waiting": [*(_job(job, place) for place, job in enumerate(placed, 1)), *map(_job, away)],
    }


def _by_ticket(reading: Reading, queue: str) -> list[dict[str, Any]]:
    """A queue's jobs, those longest served first."""
    mine = [job for job in reading.jobs.values() if job["queue"] == queue]
    return sorted(mine, key=lambda job: (job.get("fence") or "", job.get("ticket") or "", job["id"]))


def _lanes(board: dict[str, dict[str, Any]] | None, queue: Queue) -> dict[str, dict[str, Any]]:
    own = {name: {"priority": rule[0], "reserved": rule[1], "max": rule[2]} for name, rule in queue.lanes.items()}
    theirs = {
        clean(name): {field: lane.get(field, usual) for field, usual in _NO_LANE.items()}
        for name, lane in (board or {}).items()
    }
    lanes: dict[str, dict[str, Any]] = {DEFAULT_LANE: dict(_NO_LANE), **own, **theirs}
    return dict(sorted(lanes.items(), key=lambda lane: (-lane[1]["priority"], lane[0])))


def _job(record: dict[str, Any], place: int | None = None) -> dict[str, Any]:
    def text(name: str) -> str | None:
        value = record.get(name)
        return clean(str(value)) if value else None

    return {
        "id": clean(record["id"]),
        "queue": clean(record["queue"]),
        "lane": clean(record["lane"]),
        "owner": clean(unquote(record.get("owner", ""))),
        "session": text("session"),
        "label": text("label"),
        "agent": text("agent"),
        "command": text("command"),
        "cwd": text("cwd"),
        "machine": clean(record["machine"]),
        "pid": record["process"]["pid"],
        "state": record["state"],
        "queuedAt": record["queuedAt"],
        "grantedAt": record.get("grantedAt"),
        "startedAt": record.get("startedAt"),
        "place": place,
        "limitMs": record.get("limitMs"),
        "fence": text("fence"),
    }
