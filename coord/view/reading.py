"""What `board_read` answered, parsed."""

from __future__ import annotations

import json
from typing import Any

from coord.errors import BoardFault


class Reading:
    """Raw records. `jobs`, `sessions` and `slots` by id, sessions in the order of their letters; `limits` by queue,
    `pool_limits` by pool; `line` in ticket order and `holds`: [{pool, session, …}]; `paused` None: it is not. Without
    fields it stands for no board."""

    def __init__(self, fields: dict[str, str], now: int) -> None:
        """Raises `BoardFault` when somebody wrote something else there."""
        self.now = now
        try:
            self._take(fields)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise BoardFault(f"the board holds a record that is not ours: {type(error).__name__}: {error}") from None

    def _take(self, fields: dict[str, str]) -> None:
        self.jobs: dict[str, dict[str, Any]] = {job["id"]: job for job in json.loads(fields.get("jobs", "[]"))}
        self.limits: dict[str, dict[str, Any]] = json.loads(fields.get("limits", "{}"))
        self.policies: dict[str, dict[str, Any]] = json.loads(fields.get("policies", "{}"))
        self.order = fields.get("order", "").split()
        self.settle_ms = int(fields.get("settleMs", 0))
        self.late = fields.get("late", "").split()
        sessions: dict[str, dict[str, Any]] = json.loads(fields.get("sessions", "{}"))
        self.sessions = dict(sorted(sessions.items(), key=lambda one: (len(one[1]["label"]), one[1]["label"])))
        self.slots: dict[str, dict[str, Any]] = json.loads(fields.get("slots", "{}"))
        self.pool_limits: dict[str, dict[str, Any]] = json.loads(fields.get("poolLimits", "{}"))
        self.line: list[dict[str, Any]] = json.loads(fields.get("line", "[]"))
        self.holds: list[dict[str, Any]] = json.loads(fields.get("holds", "[]"))
        self.paused: dict[str, Any] | None = json.loads(fields.get("paused") or "null")

    @property
    def participants(self) -> list[dict[str, Any]]:
        """Jobs and sessions as suspects: whoever looks at a board looks whether they live."""
        return [*self.jobs.values(), *({**one, "kind": "session", "id": id} for id, one in self.sessions.items())]

    @property
    def lived_on(self) -> bool:
        """Whether anybody is there. The last policy stays when its users are gone; then it binds nobody."""
        return bool(self.jobs or self.sessions)

    def letter(self, session: str | None) -> str | None:
        """The letter of a session that is on the board."""
        found = self.sessions.get(session or "")
        return str(found["label"]) if found else None
