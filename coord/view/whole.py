"""The whole picture, version 1: what `omp-coord status --json` prints. `coord.status` has it with types.

Names are camelCase, times are milliseconds of the board's clock, and what is absent is None, never left out. Every queue
and pool of the caller's own configuration is there, also an idle one; those that only the board knows come after them.
Texts from the board are cleaned of control characters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coord.names import clean
from coord.view.cautions import cautions
from coord.view.pools import agents_of, pools, unpooled
from coord.view.queues import queues

if TYPE_CHECKING:
    from coord.config.settings import Settings
    from coord.view.reading import Reading


def whole(reading: Reading, settings: Settings, server: dict[str, Any], first: list[dict[str, str]]) -> dict[str, Any]:
    """The picture of what was read, for somebody with these settings. `first`: warnings that come before the others,
    as {code, text}."""
    found: dict[str, Any] = {
        "version": 1,
        "scope": settings.scope,
        "server": server,
        "now": reading.now,
        "settling": reading.settle_ms > 0,
        "paused": _paused(reading),
        "sessions": [_session(id, one, reading) for id, one in reading.sessions.items()],
        "pools": pools(reading, settings),
        "unpooled": unpooled(reading),
        "queues": queues(reading, settings),
        "claims": [],
    }
    return {**found, "warnings": [*first, *cautions(reading, settings, found)]}


def _paused(reading: Reading) -> dict[str, Any] | None:
    if reading.paused is None:
        return None
    texts = {name: clean(str(reading.paused.get(name) or "")) or None for name in ("by", "label", "reason")}
    return {**texts, "since": int(reading.paused.get("since") or 0)}


def _session(id: str, record: dict[str, Any], reading: Reading) -> dict[str, Any]:
    return {
        "id": clean(id),
        "label": clean(record["label"]),
        "cwd": clean(record.get("cwd") or ""),
        "machine": clean(record["machine"]),
        "pid": record["process"]["pid"],
        "joined": int(record["joined"]),
        "late": id in reading.late,
        "agents": len(agents_of(id, reading)),
        "policy": clean(record["policy"]),
    }
