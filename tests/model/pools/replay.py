"""Replays the events of sessions and pools: what they give must be what stands on the board."""

from __future__ import annotations

from typing import Any

from tests.model.picture import Picture
from tests.model.replay import replay as replay_queues

Event = dict[str, str]


class Told:
    """Sessions, slots, lines, holds and the pause, as the events tell them."""

    def __init__(self) -> None:
        self.sessions: dict[str, str] = {}
        self.slots: dict[str, dict[str, str]] = {}
        self.line: dict[tuple[str, str], str] = {}
        self.holds: set[tuple[str, str]] = set()
        self.pause: dict[str, str] = {}

    def session_joined(self, event: Event) -> None:
        assert event["session"] not in self.sessions
        self.sessions[event["session"]] = event["label"]

    def session_reopened(self, event: Event) -> None:
        assert self.sessions[event["session"]] == event["label"]

    def session_left(self, event: Event) -> None:
        gone = event["session"]
        del self.sessions[gone]
        self.slots = {id: slot for id, slot in self.slots.items() if slot["session"] != gone}
        self.line = {key: ticket for key, ticket in self.line.items() if key[1] != gone}
        self.holds = {key for key in self.holds if key[1] != gone}

    def bridge_lost(self, event: Event) -> None:
        assert event["session"] in self.sessions

    def spawn_approved(self, event: Event) -> None:
        self._slot(event, "starting")

    def spawn_refused(self, event: Event) -> None:
        assert event["cause"]

    def run_started(self, event: Event) -> None:
        self._slot(event, "running")

    def _slot(self, event: Event, state: str) -> None:
        names = ("session", "agentId", "agentType", "pool", "parent")
        self.slots[event["slot"]] = {**{name: event[name] for name in names}, "state": state}

    def run_ending(self, event: Event) -> None:
        self.slots[event["slot"]]["state"] = "ending"

    def run_ended(self, event: Event) -> None:
        del self.slots[event["slot"]]

    start_timed_out = run_ended

    def line_joined(self, event: Event) -> None:
        assert (event["pool"], event["session"]) not in self.line, "twice in one line"
        self.line[event["pool"], event["session"]] = event["ticket"]

    def line_left(self, event: Event) -> None:
        del self.line[event["pool"], event["session"]]
        self.holds.discard((event["pool"], event["session"]))

    def hold_given(self, event: Event) -> None:
        self.holds.add((event["pool"], event["session"]))

    def hold_used(self, event: Event) -> None:
        self.holds.remove((event["pool"], event["session"]))
        del self.line[event["pool"], event["session"]]

    hold_lapsed = hold_used

    def hold_withdrawn(self, event: Event) -> None:
        self.holds.remove((event["pool"], event["session"]))

    def paused(self, event: Event) -> None:
        self.pause = {name: event[name] for name in ("by", "label", "reason")}

    def resumed(self, _event: Event) -> None:
        self.pause = {}


def replay(events: list[Event]) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """What the events tell of sessions and pools, and of jobs."""
    told, rest = Told(), []
    for event in events:
        take = getattr(told, event["type"], None)
        take(event) if take else rest.append(event)
    return vars(told), replay_queues(rest)


def standing(board: Picture) -> dict[str, Any]:
    """What replaying must give, read from the board."""
    records = board.hash["slots"]
    lines = [member.split("|") for member in board.lexical["line"] if member[0] == "p"]
    return {
        "sessions": {id: one["label"] for id, one in board.hash["sessions"].items()},
        "slots": {
            id: {
                "session": one["session"], "agentId": one.get("agent", ""), "agentType": one["type"],
                "pool": one.get("pool", ""), "parent": one["parent"], "state": one["state"],
            }
            for id, one in records.items()
        },
        "line": {(pool, session): ticket for _, pool, ticket, session in lines},
        "holds": {tuple(member.split("|")) for member in board.lexical["holds"]},
        "pause": {name: board.pause.get(name, "") for name in ("by", "label", "reason")} if board.pause else {},
    }  # fmt: skip
