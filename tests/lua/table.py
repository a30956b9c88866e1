"""Tables of given → call → verdict → board after."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from coord.answers import Answer
from tests.lua.snapshot import Snapshot
from tests.lua.world import Step, World

Test = Callable[..., None]


class Row:
    """One row. `id` says the behaviour.

    given: steps before. call: the step that is looked at. verdict: its first word. fields: what it says (as text; a
    function is asked). after: what the board then is, see `After`.
    """

    def __init__(
        self, id_: str, *, given: Sequence[Step] = (), call: Step, verdict: str, fields: dict[str, Any] | None = None,
        **after: Any,
    ) -> None:  # fmt: skip
        self.id, self.given, self.call, self.verdict = id_, given, call, verdict
        self.fields, self.after = fields or {}, after

    def play(self, world: World) -> None:
        """Plays the row and checks everything it says."""
        for step in self.given:
            step(world)
        before = world.seen()
        answer: Answer = self.call(world)
        assert answer.verdict == self.verdict, answer
        for name, wanted in self.fields.items():
            said = answer.fields[name]
            assert wanted(said) if callable(wanted) else str(said) == str(wanted), f"{name}: {said!r}"
        after = After(world, before, answer)
        for name, wanted in self.after.items():
            getattr(after, name)(wanted)


class After:
    """What a row can say of the board after its call."""

    def __init__(self, world: World, before: Snapshot, answer: Answer) -> None:
        self._world, self._before, self._answer, self._seen = world, before, answer, world.seen()

    def same(self, wanted: bool) -> None:
        """Nothing on the board is other than before."""
        assert (self._seen.board() == self._before.board()) == wanted

    def stale(self, wanted: bool) -> None:
        """Nothing but the log is other than before, and that has the stale call."""
        assert wanted
        self.events("stale_call")
        before, after = self._before.board(), self._seen.board()
        assert {**before, "EVENTS": None} == {**after, "EVENTS": None}

    def seats(self, wanted: str) -> None:
        """Who holds a slot of queue q, by ticket."""
        assert self._seen.ids(self._seen.running, "q") == wanted.split()

    def line(self, wanted: str) -> None:
        """Who stands in line for queue q, by ticket."""
        assert self._seen.ids(self._seen.waiting, "q") == wanted.split()

    def states(self, wanted: dict[str, str]) -> None:
        """The states of jobs."""
        assert {job: self._seen.jobs[job]["state"] for job in wanted} == wanted

    def jobs(self, wanted: dict[str, dict[str, Any]]) -> None:
        """Fields of jobs' records; None: it has no such field."""
        for job, fields in wanted.items():
            record = self._seen.jobs[job]
            assert {name: record.get(name) for name in fields} == fields

    def events(self, wanted: str) -> None:
        """The types of the events that the call wrote, in order."""
        known = {id_ for id_, _ in self._before.events}
        assert [event["type"] for id_, event in self._seen.events if id_ not in known] == wanted.split()

    def gone(self, wanted: str) -> None:
        """Of these nothing stands on the board any more."""
        for job in wanted.split():
            assert self._seen.mentions(job) == []

    def ended(self, wanted: dict[str, dict[str, Any]]) -> None:
        """What tombstones say."""
        for job, fields in wanted.items():
            assert {name: self._seen.ended[job].get(name) for name in fields} == fields

    def heard(self, wanted: dict[str, str]) -> None:
        """What was said on channels."""
        assert {name: " ".join(self._world.heard(name)) for name in wanted} == wanted

    def suspects(self, wanted: str) -> None:
        """Whom the answer asks the caller to look at."""
        assert sorted(suspect["id"] for suspect in self._answer.suspects) == sorted(wanted.split())

    def limits(self, wanted: dict[str, Any]) -> None:
        """Effective limits of queue q."""
        limits = self._seen.limits["q"]
        assert {name: limits.get(name) for name in wanted} == wanted

    def policies(self, wanted: str) -> None:
        """The policies on the board."""
        assert sorted(self._seen.policies) == sorted(wanted.split())

    def meta(self, wanted: dict[str, str]) -> None:
        assert {name: self._seen.meta.get(name) for name in wanted} == wanted

    def lease(self, wanted: dict[str, int]) -> None:
        """Leases of jobs, in ms from now."""
        assert {job: self._seen.leases[f"j|{job}"] - self._world.clock.ms for job in wanted} == wanted

    def slots(self, wanted: str) -> None:
        """All agent slots with their states: `s1:running s2:ending`."""
        found = {f"{id_}:{slot['state']}".replace(" ", "-") for id_, slot in self._seen.slots.items()}
        assert found == set(wanted.split())

    def slot(self, wanted: dict[str, dict[str, Any]]) -> None:
        """Fields of slots' records; None: it has no such field."""
        for id_, fields in wanted.items():
            assert {name: self._seen.slots[id_].get(name) for name in fields} == fields

    def used(self, wanted: dict[str, int]) -> None:
        """How many slots count against pools."""
        assert {pool: len(self._seen.counted(pool)) for pool in wanted} == wanted

    def lines(self, wanted: dict[str, str]) -> None:
        """Who stands in line for pools, by ticket, holders too."""
        assert {pool: " ".join(self._seen.in_line(pool)) for pool in wanted} == wanted

    def holds(self, wanted: dict[str, str]) -> None:
        """For whom pools keep a slot, by ticket."""
        assert {pool: " ".join(self._seen.held_by(pool)) for pool in wanted} == wanted

    def pools(self, wanted: dict[str, dict[str, Any]]) -> None:
        """Effective limits of pools."""
        for pool, fields in wanted.items():
            assert {name: self._seen.pools[pool].get(name) for name in fields} == fields

    def due(self, wanted: dict[str, int]) -> None:
        """All deadlines, in ms from now."""
        now = self._world.clock.ms
        assert {member: at - now for member, at in self._seen.deadlines.items()} == wanted

    def letters(self, wanted: dict[str, str]) -> None:
        """Letter → session, all of them."""
        assert self._seen.labels == wanted

    def sessions(self, wanted: dict[str, dict[str, Any]]) -> None:
        """Fields of sessions' records; None: it has no such field."""
        for session, fields in wanted.items():
            assert {name: self._seen.sessions[session].get(name) for name in fields} == fields

    def session_lease(self, wanted: dict[str, int]) -> None:
        """Leases of sessions, in ms from now."""
        assert {one: self._seen.leases[f"s|{one}"] - self._world.clock.ms for one in wanted} == wanted

    def said(self, wanted: dict[str, dict[str, str]]) -> None:
        """Fields of the last event of each type."""
        for kind, fields in wanted.items():
            event = [event for _, event in self._seen.events if event["type"] == kind][-1]
            assert {name: event.get(name) for name in fields} == fields

    def check(self, wanted: Callable[[Snapshot, Snapshot], bool]) -> None:
        """Anything else, of before and after."""
        assert wanted(self._before, self._seen)


def table(*rows: Row) -> Callable[[Test], Test]:
    """Makes a test of every row; the test's parameter is `row`."""

    def decorate(test: Test) -> Test:
        test.rows = rows  # type: ignore[attr-defined]
        return pytest.mark.parametrize("row", rows, ids=[row.id for row in rows])(test)

    return decorate
