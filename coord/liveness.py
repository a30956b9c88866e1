"""Looks at the processes of other participants of this machine, so that the board can be told who lives (design 21).

The process table decides on one machine, never age: `vouch` entries name the very process that was looked at, and the
board ignores them when it knows another.
"""

from __future__ import annotations

from coord.machine import is_gone

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from coord.board import Board
    from coord.run.tree import Ending

SEATED = frozenset(("granted", "running", "stopped", "orphaned"))
"""States of a job that has a slot."""


def look(participants: Iterable[dict[str, Any]], machine: str) -> list[dict[str, Any]]:
    """What to vouch for: one entry per participant of this machine. Job records and `suspects` have the same shape."""
    return [verdict for one in participants if one.get("machine") == machine and (verdict := _look_at(one))]


def _look_at(one: dict[str, Any]) -> dict[str, Any]:
    process = one["process"]
    entry = {"kind": one.get("kind", "job"), "id": one["id"], **process, "is": "live"}
    if not is_gone(process["pid"], process["start"]):
        if _lost_its_bridge(one):
            entry["is"] = "bridgeless"
        return entry
    entry["is"] = "gone"
    if one.get("state") in SEATED:
        from coord.run.tree import find_by_job

        left = find_by_job(one["id"])
        if left:
            entry["is"], entry["pids"] = "orphaned", [proc.pid for proc in left]
    return entry


def _lost_its_bridge(one: dict[str, Any]) -> bool:
    """Whether a session's host lives without the bridge that beats for it; the board gives it 60 s for another one."""
    bridge = one.get("bridge")
    return bool(one.get("kind") == "session" and bridge and is_gone(bridge["pid"], bridge["start"]))


class Lookout:
    """One participant's look at the others; `me` is its own id."""

    __slots__ = ("_me", "orphans")

    def __init__(self, me: str) -> None:
        self._me = me
        self.orphans = Orphans()

    def vouch(self, board: Board, others: Iterable[dict[str, Any]], *, only_news: bool = False) -> bool:
        """Has the board's next call say what is seen, besides what waits to be said already. True: it is urgent."""
        seen = look([one for one in others if one["id"] != self._me], board.machine)
        news = [entry for entry in seen if entry["is"] != "live"]
        said = news if only_news else seen
        ids = {entry["id"] for entry in said}
        board.vouched = [entry for entry in board.vouched if entry["id"] not in ids] + said
        self.orphans.found(news)
        return bool(news)

    def tick(self, now: float) -> float:
        """Does what is due about orphans; seconds until it should be called again, infinite: never."""
        due = self.orphans.tick(now)
        return float("inf") if due is None else due


class Orphans:
    """Ends what is left of jobs whose runner is gone: TERM, and KILL 10 s later. `tick` does what is due."""

    __slots__ = ("_endings",)

    def __init__(self) -> None:
        self._endings: dict[str, Ending] = {}

    def found(self, entries: Iterable[dict[str, Any]]) -> None:
        """Takes note of the orphaned jobs among vouch entries."""
        from coord.run.tree import Ending, find_by_job

        for entry in entries:
            if entry["is"] == "orphaned" and entry["id"] not in self._endings:
                self._endings[entry["id"]] = Ending(lambda job=entry["id"]: find_by_job(job))  # type: ignore[misc]

    def tick(self, now: float) -> float | None:
        """Seconds until it should be called again; None: nothing to do."""
        due = [ending.tick(now) for ending in self._endings.values() if not ending.done]
        return min((seconds for seconds in due if seconds is not None), default=None)
