"""Histories that random search finds only now and then; each is played on the board and on the model side by side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.model.runner import Runner
from tests.model.world import World
from tests.servers import KINDS, Server


@pytest.fixture(scope="module", params=KINDS)
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    with Server(request.param, "--appendonly", "no") as running:
        yield running


def world(server: Server, **policies: dict[str, Any]) -> World:
    """A fresh board that knows these policies by name."""
    return World(server.url, "histories", policies, fresh=True)


def says(fallback: bool = False, lease_ms: int | None = None, **queues: dict[str, Any]) -> dict[str, Any]:
    """A policy's content."""
    said: dict[str, Any] = {"source": "test", "queues": queues}
    return said | ({"fallback": True} if fallback else {}) | ({"leaseMs": lease_ms} if lease_ms else {})


def comes(world: World, id: str, queue: str = "q", lane: str = "default", **fields: Any) -> Runner:
    """A listening runner that asks for a slot under the policy `p`."""
    terms: dict[str, Any] = {
        "machine": "m1",
        "owner": "x",
        "policy": "p",
        "parent": None,
        "wait": True,
        "limit_ms": None,
    }
    runner = Runner(id=id, pid=1000 + len(world.runners), queue=queue, lane=lane, **{**terms, **fields})
    world.runners.append(runner)
    world.listen(id)
    world.enqueue(runner)
    return runner


def test_a_short_lease_lapses_on_time(server: Server) -> None:
    """With a lease shorter than one and a half beats another machine's job is reaped as soon as its lease has lapsed."""
    w = world(server, p=says(lease_ms=2000, q={"slots": 2}))
    here = comes(w, "here")
    comes(w, "there", machine="m2")
    for _ in range(3):
        w.clock.step(800)
        w.beat(here)
    assert set(w.model.jobs) == {"here"}


def test_the_joining_call_brings_its_load(server: Server) -> None:
    """The load of the machine that brings the first load cap counts for one lease, whoever calls next."""
    w = world(server, p=says(q={"slots": 2}), capped=says(q={"slots": 2, "loadCaps": [[4, 1]]}))
    w.boards["m1"]._common["load"] = 5
    first = comes(w, "first", policy="capped")
    assert comes(w, "second", machine="m2").phase == "waiting"
    w.clock.step(1000)
    w.boards["m1"]._common["load"] = 1
    w.beat(first)
    assert w.model.jobs["second"].state == "granted"


def test_the_newest_policy_is_the_last_that_came(server: Server) -> None:
    """Order and priority come from the policy that came last, also when the clock was set back in between."""
    w = world(server, p=says(q={"slots": 1}), fair=says(q={"slots": 1, "order": "fair-share"}))
    comes(w, "holder")
    w.clock.step(-5000)
    comes(w, "waiter", policy="fair")
    assert w.picture.hash["limits"]["q|q"]["order"] == "fair-share"


def test_served_never_goes_back(server: Server) -> None:
    """An older job that registers again does not make its owner look as if it was served long ago."""
    w = world(server, p=says(q={"slots": 3, "order": "fair-share"}))
    old, new = comes(w, "old"), comes(w, "new")
    w.flush()
    w.register(new)
    w.register(old)
    assert w.picture.scored["served"]["q|x"] == new.fence


def test_a_job_runs_inside_whoever_has_the_slot_by_now(server: Server) -> None:
    """A job that ran inside one that is itself inside another's slot by now registers inside that slot."""
    w = world(server, p=says(q={"slots": 3}))
    outer = comes(w, "outer")
    middle = comes(w, "middle", parent="outer")
    w.vouches["m1"] = [outer.seen("gone")]
    w.sweep("m1")
    inner = comes(w, "inner", parent="middle")
    assert inner.inside == "middle"
    w.flush()
    for runner in (outer, middle, inner):
        w.register(runner)
    assert w.model.jobs["inner"].inside == "outer"


def test_a_lost_parent_that_returns_still_has_its_children(server: Server) -> None:
    """A knot is seen also through a parent that was taken for dead and registered again."""
    w = world(server, p=says(q={"slots": 1}, r={"slots": 1}))
    parent, other = comes(w, "parent"), comes(w, "other", queue="r")
    comes(w, "child", queue="r", parent="parent")
    w.vouches["m1"] = [parent.seen("gone")]
    w.sweep("m1")
    w.register(parent)
    assert comes(w, "knotted", parent="other").phase == "done"
    w.finish(other, other.fence)
    assert w.model.jobs["child"].state == "granted"


def test_a_job_keeps_a_policy_that_names_its_queue(server: Server) -> None:
    """A changed file without the queue or lane in which a job waits does not leave it waiting for ever."""
    w = world(
        server, p=says(q={"slots": 1, "lanes": {"a": {"priority": 1}}}), r=says(r={"slots": 1}), q=says(q={"slots": 2})
    )
    holder, waiter = comes(w, "holder"), comes(w, "waiter", lane="a")
    w.beat(waiter, policy="r")
    w.beat(waiter, policy="q")
    w.finish(holder, holder.fence)
    assert w.model.jobs["waiter"].state == "granted"


def test_a_wait_that_a_falling_load_ends_is_no_knot(server: Server) -> None:
    """While a load cap keeps a queue small its waiters may wait: the load will fall."""
    w = world(server, p=says(q={"slots": 2, "loadCaps": [[4, 1]]}, r={"slots": 1}))
    comes(w, "outer")
    inner = comes(w, "inner", queue="r")
    w.boards["m1"]._common["load"] = 5
    comes(w, "below", queue="r", parent="outer")
    assert comes(w, "asks", parent=inner.id).phase == "waiting"


def test_a_place_reserved_for_others_does_not_end_a_wait(server: Server) -> None:
    """A wait is refused when all that may ever come free is reserved for another lane."""
    w = world(server, p=says(q={"slots": 2, "lanes": {"quick": {"reserved": 1}}}, r={"slots": 1}))
    comes(w, "quick", lane="quick")
    comes(w, "outer")
    comes(w, "other", queue="r")
    comes(w, "below", queue="r", parent="outer")
    assert comes(w, "asks", parent="other").phase == "done"


def test_what_was_granted_in_the_lost_second_counts(server: Server) -> None:
    """A server that lost its last second has a running job in line; registered again it holds its slot, with its fence."""
    w = world(server, p=says(q={"slots": 1}))
    holder, waiter = comes(w, "holder"), comes(w, "waiter")
    saved = w.save()
    w.finish(holder, holder.fence)
    w.start(waiter, w.model.jobs["waiter"].fence)
    w.load(saved)
    w.clock.step(1001)
    w.register(waiter)
    w.vouches["m1"] = [holder.seen("gone")]
    w.sweep("m1")
    assert w.model.jobs["waiter"].fence == waiter.fence
    assert comes(w, "next").phase == "waiting"


def test_a_lane_keeps_to_its_max(server: Server) -> None:
    """A lane that runs as many as it may starts no more, though slots are free; the next of another lane starts at once."""
    w = world(server, p=says(q={"slots": 3, "lanes": {"a": {"max": 1}}}))
    first = comes(w, "first", lane="a")
    assert comes(w, "second", lane="a").phase == "waiting"
    assert comes(w, "other").phase == "running"
    w.finish(first, first.fence)
    assert w.model.jobs["second"].state == "granted"


def test_an_ended_job_is_released_by_its_own_token_only(server: Server) -> None:
    """Asked again the same token is told released; a stale one that it has ended, another process that it is not its job."""
    w = world(server, p=says(q={"slots": 1}))
    job = comes(w, "job")
    told = [
        w.finish(job, fence, instance=who).verdict
        for fence, who in ((job.fence, None), (job.fence, None), (1, None), (job.fence, "other"))
    ]
    assert told == ["released", "released", "expired", "notYours"]


def test_lanes_of_one_priority_are_one_line(server: Server) -> None:
    """Between lanes of one priority the earliest ticket is served first, whatever the lanes' names."""
    w = world(server, p=says(q={"slots": 1, "lanes": {"a": {"priority": 0}, "z": {"priority": 0}}}))
    ends = comes(w, "holder")
    line = [comes(w, f"job{lane}", lane=lane) for lane in ("z", "default", "a")]
    for next_one in line:
        w.finish(ends, ends.fence)
        assert w.model.jobs[next_one.id].state == "granted"
        w.start(next_one, w.model.jobs[next_one.id].fence)
        ends = next_one


def test_fair_share_holds_across_lanes(server: Server) -> None:
    """Under fair share the owner with fewer running jobs comes first, also from another lane
    of the same priority and when it was served last."""
    w = world(server, p=says(q={"slots": 2, "order": "fair-share", "lanes": {"a": {"priority": 0}}}))
    comes(w, "runs", owner="x")
    ends = comes(w, "first", owner="y")
    comes(w, "more", owner="x")
    comes(w, "late", owner="y", lane="a")
    w.finish(ends, ends.fence)
    assert w.model.jobs["late"].state == "granted"
