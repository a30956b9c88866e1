"""The board as a test sees it: read raw, so that looking changes nothing, and its events replayed."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from coord.errors import Unavailable
from coord.keys import Keys
from coord.wire import ServerError
from tests.cli.place import Place
from tests.waiting import until

Event = dict[str, str]
LOOK_S = 0.03
"""The seconds between two looks at the board: omp needs the machine more than its test does."""
SOON_S = 6.0
"""Within so long the counts are right after whatever happened: two seconds, on a machine that is three times slower than
those of people. What only the next list of what runs, 10 s later, put right would come too late."""
SYNC_S = 30.0
"""The same where only that list can tell."""


class BoardView:
    """The board of a place."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._keys = Keys(place.scope)

    def _records(self, key: str) -> list[dict[str, Any]]:
        return [json.loads(text) for text in self._place.redis("HVALS", self._keys[key])]

    # -- now

    def sessions(self) -> dict[str, dict[str, Any]]:
        """The sessions, by letter."""
        return {one["label"]: one for one in self._records("SESSIONS")}

    def slots(self) -> dict[str, str]:
        """The agents, with the states of their slots."""
        return {one.get("agent", "?"): one["state"] for one in self._records("SLOTS")}

    def running(self) -> set[str]:
        """The agents whose slots say that they run."""
        return {agent for agent, state in self.slots().items() if state == "running"}

    def used(self, pool: str = "work") -> int:
        """The slots of a pool that are taken."""
        return int(self._place.redis("ZLEXCOUNT", self._keys["SEATS"], f"[p|{pool}|", f"(p|{pool}}}"))

    def line(self, pool: str = "work") -> list[str]:
        """The letters of those that stand in a pool's line, the first one first."""
        found = self._place.redis("ZRANGEBYLEX", self._keys["LINE"], f"[p|{pool}|", f"(p|{pool}}}")
        letters = {one["id"]: label for label, one in self.sessions().items()}
        return [letters.get(member.split("|")[3], "?") for member in found]

    def jobs(self, *states: str) -> list[dict[str, Any]]:
        return self._place.jobs(*states)

    # -- waiting

    def until(self, condition: Callable[[], Any], what: str, timeout: float = 60) -> None:
        """Waits for something of the board, which may be away; says what stands there when it does not come."""

        def found() -> Any:
            try:
                return condition()
            except (Unavailable, ServerError):
                return None  # the test has killed the server, or it loads its data

        try:
            until(found, what, timeout, LOOK_S)
        except AssertionError as error:
            there = f"slots {self.slots()}, line {self.line()}, events {self.kinds()[-12:]}"
            raise AssertionError(f"{error}; {there}") from None

    def until_running(self, *agents: str, within: float = 60) -> None:
        """These agents run, and no others."""
        self.until(lambda: self.running() == set(agents), f"{sorted(agents)} run, and no others", within)

    def until_sessions(self, *labels: str, within: float = 60) -> None:
        """These sessions are there, and no others."""
        self.until(lambda: set(self.sessions()) == set(labels), f"sessions {labels} are there, and no others", within)

    def until_empty(self, within: float = SOON_S) -> None:
        """No slot is taken."""
        self.until(lambda: not self.slots(), "no slot is taken", within)

    # -- what happened

    def events(self, *kinds: str) -> list[Event]:
        """All events, or those of some kinds, oldest first."""
        found: list[Event] = []
        for _, flat in self._place.redis("XRANGE", self._keys["EVENTS"], "-", "+"):
            found.append(dict(zip(flat[::2], flat[1::2], strict=True)))
        return [event for event in found if not kinds or event["type"] in kinds]

    def kinds(self) -> list[str]:
        return [event["type"] for event in self.events()]

    def most_at_once(self, pool: str = "work") -> int:
        """The most slots of a pool that were ever taken together."""
        return replay(self.events(), pool)[0]


def replay(events: list[Event], pool: str) -> tuple[int, set[str]]:
    """The most slots of a pool that were taken together, and those that are taken after the last event."""
    taken: dict[str, str] = {}
    most = 0
    for event in events:
        kind = event["type"]
        if kind in ("spawn_approved", "run_started") and event["pool"] == pool:
            taken[event["slot"]] = event["session"]
        elif kind in ("run_ended", "start_timed_out"):
            taken.pop(event["slot"], None)
        elif kind == "session_left":
            taken = {slot: session for slot, session in taken.items() if session != event["session"]}
        elif kind == "board_made":
            taken = {}
        most = max(most, len(taken))
    return most, set(taken)
