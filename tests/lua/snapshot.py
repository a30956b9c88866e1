"""The whole board as a test sees it: every key read in one go, records decoded."""

from __future__ import annotations

import json
from typing import Any

from tests.limited import Scope


class Snapshot:
    """All keys of a scope. Hashes are dicts (records decoded), lexical sets lists, scored sets dicts, events dicts."""

    def __init__(self, scope: Scope, events_after: str = "-") -> None:
        self._scope = scope
        self._replies = self._read(events_after)
        self.meta = self._hash("META")
        self.policies = self._records("POLICIES")
        limits = self._records("LIMITS")
        self.limits = {name[2:]: limit for name, limit in limits.items() if name[0] == "q"}
        self.pools = {name[2:]: limit for name, limit in limits.items() if name[0] == "p"}
        self.loads = self._records("LOADS")
        self.jobs = self._records("JOBS")
        self.sessions, self.slots = self._records("SESSIONS"), self._records("SLOTS")
        self.labels, self.pause = self._hash("LABELS"), self._hash("PAUSE")
        self.seats, self.line, self.holds = self._set("SEATS"), self._set("LINE"), self._set("HOLDS")
        self.ended = self._records("ENDED")
        self.policy_use, self.turns = self._set("POLICY_USE"), self._set("TURNS")
        self.waiting, self.running = self._set("WAITING"), self._set("RUNNING")
        self.nest = self._set("NEST")
        self.leases, self.deadlines = self._scores("LEASES"), self._scores("DEADLINES")
        self.served, self.ended_at = self._scores("SERVED"), self._scores("ENDED_AT")
        self.events = [(id_, _pairs(fields)) for id_, fields in self._replies["EVENTS"]]

    def _read(self, events_after: str) -> dict[str, Any]:
        hashes = ("META", "POLICIES", "LIMITS", "LOADS", "JOBS", "ENDED", "SESSIONS", "SLOTS", "LABELS", "PAUSE")
        lexical = ("POLICY_USE", "TURNS", "WAITING", "RUNNING", "NEST", "SEATS", "LINE", "HOLDS")
        scored = ("LEASES", "DEADLINES", "SERVED", "ENDED_AT")
        key = self._scope.keys
        commands: dict[str, list[Any]] = {name: ["HGETALL", key[name]] for name in hashes}
        commands |= {name: ["ZRANGE", key[name], 0, -1] for name in lexical}
        commands |= {name: ["ZRANGE", key[name], 0, -1, "WITHSCORES"] for name in scored}
        commands["EVENTS"] = ["XRANGE", key["EVENTS"], events_after, "+"]
        self._scope.admin.send(("MULTI",), *map(tuple, commands.values()), ("EXEC",))
        replies: Any = self._scope.admin.answer()
        return dict(zip(commands, replies, strict=True))

    def _hash(self, name: str) -> dict[str, Any]:
        found: Any = self._replies[name]
        return dict(found)

    def _records(self, name: str) -> dict[str, Any]:
        return {id_: json.loads(text) for id_, text in self._hash(name).items()}

    def _set(self, name: str) -> list[str]:
        return list(self._replies[name])

    def _scores(self, name: str) -> dict[str, float]:
        return {member: float(score) for member, score in self._replies[name]}

    def ids(self, members: list[str], queue: str) -> list[str]:
        """Jobs of a queue in `waiting` or `running`, in the order of their tickets."""
        parts = [member.split("|") for member in members]
        return [p[4] for p in sorted(parts, key=lambda p: p[3]) if p[0] == "q" and p[1] == queue]

    def in_line(self, pool: str) -> list[str]:
        """Sessions in a pool's line by ticket."""
        return [m.split("|")[3] for m in self.line if m.startswith(f"p|{pool}|")]

    def ticket(self, pool: str, session: str) -> str:
        """A session's ticket in a pool's line, "" when it is in none."""
        prefix = f"s|{session}|{pool}|"
        return next((m.removeprefix(prefix) for m in self.line if m.startswith(prefix)), "")

    def held_by(self, pool: str) -> list[str]:
        """Sessions with a hold of a pool, by ticket."""
        found = [m.split("|")[1] for m in self.holds if m.startswith(f"{pool}|")]
        return sorted(found, key=lambda session: self.ticket(pool, session))

    def counted(self, pool: str) -> list[str]:
        """The slots that count against a pool."""
        return [m.split("|")[2] for m in self.seats if m.startswith(f"p|{pool}|")]

    def board(self) -> dict[str, Any]:
        """Everything, to compare two moments with; `lastOp` and the tests' clock aside."""
        said = dict(self._replies)
        said["META"] = {k: v for k, v in self.meta.items() if k not in ("lastOp", "testMicros")}
        return said

    def mentions(self, job: str) -> list[str]:
        """The keys in which a job, session or slot still stands, its tombstone and the event log aside."""
        keys = {name: reply for name, reply in self._replies.items() if name not in ("ENDED", "ENDED_AT", "EVENTS")}
        keys["POLICY_USE"] = [member.rpartition("|")[2] for member in self.policy_use]  # its `s` is a kind
        return [name for name, reply in keys.items() if any(_names(job, text) for text in _texts(reply))]


def _pairs(fields: list[str]) -> dict[str, str]:
    return dict(zip(fields[::2], fields[1::2], strict=True))


def _texts(reply: Any) -> list[str]:
    items = [*reply.keys(), *reply.values()] if isinstance(reply, dict) else reply
    return [str(item[0] if isinstance(item, list) else item) for item in items]


def _names(job: str, text: str) -> bool:
    return text == job or job in text.split("|")[1:] or f'"{job}"' in text
