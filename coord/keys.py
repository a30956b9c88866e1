"""Every key of the board, spelt here and nowhere else (`lua/README.md` says what each holds).

All keys of a scope share one hash tag, so a scope is one slot of a cluster and one rule of an ACL.
"""

from __future__ import annotations

KEYS = {
    "META": "meta",
    "POLICIES": "policies",
    "POLICY_USE": "policyUse",
    "LIMITS": "limits",
    "LOADS": "loads",
    "SESSIONS": "sessions",
    "LEASES": "leases",
    "DEADLINES": "deadlines",
    "JOBS": "jobs",
    "WAITING": "waiting",
    "RUNNING": "running",
    "TURNS": "turns",
    "SERVED": "served",
    "NEST": "nest",
    "ENDED": "ended",
    "ENDED_AT": "endedAt",
    "EVENTS": "events",
    "LABELS": "labels",
    "SLOTS": "slots",
    "SEATS": "seats",
    "LINE": "line",
    "HOLDS": "holds",
    "PAUSE": "pause",
}
"""The name of a key in the scripts → its name on the board."""


class Keys:
    """The keys and channels of one scope."""

    __slots__ = ("_counted", "_spelt", "channel", "prefix")

    def __init__(self, scope: str) -> None:
        self.prefix = self.channel = prefix = f"coord:{{{scope}}}:"
        self._spelt = {name: prefix + key for name, key in KEYS.items()}
        self._counted: dict[str, list[object]] = {}

    def __getitem__(self, name: str) -> str:
        """The key that the scripts call `name` (`META`, `JOBS`, …)."""
        return self._spelt[name]

    def counted(self, script: str, names: list[str]) -> list[object]:
        """The number of a script's keys and the keys, as EVALSHA wants them; put together once."""
        known = self._counted.get(script)
        if known is None:
            known = self._counted[script] = [len(names), *[self[name] for name in names]]
        return known

    @property
    def meta(self) -> str:
        return self["META"]

    @property
    def leases(self) -> str:
        return self["LEASES"]

    def wake(self, participant: str) -> str:
        """The channel on which a waiting job or a session is told of a grant."""
        return f"{self.channel}wake:{participant}"

    @property
    def epoch(self) -> str:
        """The channel that says the board is new."""
        return f"{self.channel}epoch"

    @property
    def board(self) -> str:
        """The channel that says the board changed."""
        return f"{self.channel}board"

    def all(self) -> list[str]:
        return list(self._spelt.values())
