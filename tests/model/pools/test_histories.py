"""Short histories of sessions and pools, each played on the board and on the model side by side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.model.pools.host import Host
from tests.model.pools.things import Agent
from tests.model.pools.world import PoolWorld
from tests.model.runner import Runner
from tests.servers import KINDS, Server


@pytest.fixture(scope="module", params=KINDS)
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    with Server(request.param, "--appendonly", "no") as running:
        yield running


def says(cap: int, source: str = "a", load_caps: list[list[int]] | None = None, **agents: Any) -> dict[str, Any]:
    """A file with one pool `work` of so many places, and one queue `q` of one slot."""
    pool = {"cap": cap, **({"loadCaps": load_caps} if load_caps else {})}
    rules = {"pools": [{"name": "work", "types": ["task"]}], "defaultPool": "work", "holdMs": 60_000, **agents}
    return {"source": source, "queues": {"q": {"slots": 1}}, "pools": {"work": pool}, "agents": rules}


def world(server: Server, **policies: dict[str, Any]) -> PoolWorld:
    return PoolWorld(server.url, "pools", policies, fresh=True)


def comes(w: PoolWorld, id: str, policy: str = "p", machine: str = "m1") -> Host:
    host = Host(id, machine, 2000 + len(w.hosts), f"conversation-{id}", policy)
    w.hosts.append(host)
    w.join(host)
    return host


def runs(w: PoolWorld, host: Host, id: str, type: str = "task") -> None:
    """An agent that is approved and starts."""
    assert w.spawn(host, Agent(id, type)).verdict == "approved"
    host.runs[id] = Agent(id, type)
    w.started(host, host.runs[id])


def refused(w: PoolWorld, host: Host, type: str = "task") -> str:
    """The cause of a refusal."""
    answer = w.spawn(host, Agent("", type))
    assert answer.verdict == "refused"
    return answer.fields["cause"]


def held(w: PoolWorld) -> set[str]:
    return {session for (_, session), place in w.model.line.items() if place.held}


def test_the_line_is_served_in_ticket_order(server: Server) -> None:
    """Freed places go one by one to those who were refused first, and others are refused meanwhile."""
    w = world(server, p=says(1))
    first, second, third = (comes(w, id) for id in ("z", "y", "x"))
    runs(w, first, "A")
    assert [refused(w, host) for host in (third, second)] == ["full", "full"]
    w.agent_ended(first, "A")
    w.clock.step(500)
    w.sweep("m1")
    assert held(w) == {"x"}
    assert refused(w, second) == refused(w, first) == "held"
    runs(w, third, "B")
    w.leave(third)
    assert held(w) == {"y"}


def test_a_lowered_cap_takes_the_last_hold_back(server: Server) -> None:
    """With room for one hold less, the last in line loses its own, also when both were given at once; its place stays."""
    w = world(server, p=says(2), low=says(1, "b"))
    holder = comes(w, "holder")
    runs(w, holder, "A")
    runs(w, holder, "B")
    early, late = comes(w, "z-early"), comes(w, "a-late")
    for host in (early, late):
        refused(w, host)
    w.leave(holder)
    assert held(w) == {"z-early", "a-late"}
    comes(w, "lowers", "low")
    assert held(w) == {"z-early"}
    assert len(w.model.line) == 2


def test_a_raised_cap_serves_the_line_at_once(server: Server) -> None:
    """When the session with the lower cap leaves, whoever waits gets what that brings."""
    w = world(server, p=says(2), low=says(1, "b"))
    low, holder, waiter = comes(w, "low", "low"), comes(w, "holder"), comes(w, "waiter")
    runs(w, holder, "A")
    assert refused(w, waiter) == "policy"
    w.leave(low)
    assert held(w) == {"waiter"}


def test_a_changed_file_does_not_keep_the_old_cap(server: Server) -> None:
    """A session that opens again with another policy, known or not, leaves nothing of its old one in force."""
    w = world(server, p=says(2), low=says(1, "b"))
    host = comes(w, "host", "low")
    comes(w, "other")
    host.policy = "p"
    host.opens_again("again")
    w.join(host)
    assert w.model.caps("work") == {"cap": 2, "highest": 2, "effective": 2, "limitedBy": None}


def test_a_falling_load_serves_the_line(server: Server) -> None:
    """A load cap refuses with its cause; when the load has fallen and is forgotten, the place is held."""
    w = world(server, p=says(2, load_caps=[[4, 1]]))
    holder, waiter = comes(w, "holder"), comes(w, "waiter")
    w.boards["m1"]._common["load"] = 5
    w.beat_session(holder)
    runs(w, holder, "A")
    assert refused(w, waiter) == "load"
    w.boards["m1"]._common["load"] = 1
    w.beat_session(holder)
    assert held(w) == {"waiter"}


def test_a_pause_stops_the_ageing_of_holds(server: Server) -> None:
    """Nobody, the holder included, gets anything while it is paused; after it the hold has what it had left."""
    w = world(server, p=says(1))
    holder, waiter = comes(w, "holder"), comes(w, "waiter")
    runs(w, holder, "A")
    refused(w, waiter)
    w.leave(holder)
    w.clock.step(2000)
    w.pause("m1", reason="lunch")
    for _ in range(40):
        w.clock.step(2000)
        w.beat_session(waiter)
    assert refused(w, waiter) == "paused"
    w.pause("m1", reason="still")
    w.resume("m1")
    assert held(w) == {"waiter"}
    assert w.model.line["work", "waiter"].until == w.clock.ms + 58_000
    runs(w, waiter, "B")


def test_a_pause_stops_grants(server: Server) -> None:
    """A job that comes while it is paused waits beside the free slot and is granted it at the end of the pause."""
    w = world(server, p=says(1))
    comes(w, "host")
    w.pause("m1")
    runner = Runner("job", "m1", 1000, "q", "default", "x", "p", None, True, None)
    w.listen("job")
    assert w.enqueue(runner).fields["cause"] == "paused"
    w.resume("m1")
    assert w.model.jobs["job"].state == "granted"


def test_a_run_that_flickers_keeps_its_place(server: Server) -> None:
    """An end and a start within 500 ms are one run; the same session's next spawn may take the place of one that ended."""
    w = world(server, p=says(1))
    host, other = comes(w, "host"), comes(w, "other")
    runs(w, host, "A")
    since = w.clock.ms
    w.agent_ended(host, "A")
    assert refused(w, other) == "full"
    w.clock.step(499)
    w.started(host, host.runs["A"])
    assert [(slot.state, slot.since) for slot in w.model.slots.values()] == [("running", since)]
    w.agent_ended(host, "A")
    assert w.spawn(host, Agent("B", "task")).verdict == "approved"
    assert [slot.agent for slot in w.model.slots.values()] == ["B"]


def test_one_lie_of_a_list_ends_nobody(server: Server) -> None:
    """Absent from one list an agent stays, and being listed or started in between it is as if it had never been absent."""
    w = world(server, p=says(2))
    host = comes(w, "host")
    runs(w, host, "A")
    for _ in range(2):
        w.sync(host, [])
        w.sync(host)
    w.sync(host, [])
    w.agent_ended(host, "A")
    w.started(host, host.runs["A"])
    w.sync(host, [])
    assert len(w.model.slots) == 1
    w.sync(host, [])
    assert not w.model.slots


def test_a_flushed_board_takes_in_what_runs(server: Server) -> None:
    """While it settles nothing is approved; what runs and who waited come back, in their old order, also over the cap."""
    w = world(server, p=says(1))
    holder, early, late = (comes(w, id) for id in ("holder", "early", "late"))
    runs(w, holder, "A")
    for host in (early, late):
        refused(w, host)
        w.beat_session(host)
    w.flush()
    for host in (late, early):
        w.join(host, wanted=host.label)
    assert refused(w, late) == "settling"
    w.join(holder, wanted="A")
    assert [host.label for host in (holder, early, late)] == ["A", "B", "C"]
    w.clock.step(3000)
    w.leave(holder)
    assert held(w) == {"early"}


def test_the_hold_of_somebody_who_does_not_beat_goes_to_the_next(server: Server) -> None:
    """A session whose lease has lapsed is passed over; seen alive it is served like any other."""
    w = world(server, p=says(2))
    holder, silent, other = (comes(w, id) for id in ("holder", "silent", "other"))
    runs(w, holder, "A")
    runs(w, holder, "B")
    for host in (silent, other):
        refused(w, host)
    for _ in range(6):
        w.clock.step(2000)
        w.beat_session(holder)
        w.beat_session(other)
    w.leave(holder)
    assert held(w) == {"other"}
    w.vouches["m1"] = [silent.seen("live")]
    w.sweep("m1")
    assert held(w) == {"other", "silent"}


def test_a_session_outlives_its_bridge_by_a_minute(server: Server) -> None:
    """Seen without a bridge for 60 s it leaves; a bridge that lives after all, or a new one, ends the count."""
    w = world(server, p=says(2))
    host = comes(w, "host")

    def bridgeless() -> bool:
        w.vouches["m1"] = [host.seen("bridgeless")]
        w.sweep("m1")
        return host.id in w.model.sessions

    assert bridgeless()
    w.beat_session(host)
    for _ in range(2):
        w.clock.step(59_000)
        assert bridgeless()
        w.vouches["m1"] = [host.seen("live")]
        w.sweep("m1")
        assert bridgeless()
    host.opens_again("new")
    w.join(host)
    w.clock.step(60_000)
    assert bridgeless()
    w.clock.step(60_000)
    assert not bridgeless()


def test_the_word_of_one_who_looked_at_another_process_counts_for_nothing(server: Server) -> None:
    """`gone` with another pid, start or instance than the board's ends nobody."""
    w = world(server, p=says(1))
    host = comes(w, "host")
    for name, value in (("pid", 1), ("start", "0"), ("instance", "?")):
        w.vouches["m1"] = [{**host.seen("gone"), name: value}]
        w.sweep("m1")
    assert "host" in w.model.sessions
    w.vouches["m1"] = [host.seen("gone")]
    w.sweep("m1")
    assert not w.model.sessions


def test_nested_agents_take_no_place(server: Server) -> None:
    """A subagent's children are limited by its own number, never by the pool, so none of them can block their parent."""
    w = world(server, p=says(1, nested={"types": ["review"], "maxRunningPerParent": 1}))
    host = comes(w, "host")
    runs(w, host, "A")
    child = Agent("A.1", "review", "A", "sub")
    assert w.spawn(host, child).verdict == "approved"
    w.started(host, child)
    assert w.spawn(host, Agent("A.2", "review", "A", "sub")).fields["cause"] == "nestedFull"
    assert w.spawn(host, Agent("A.3", "task", "A", "sub")).fields["cause"] == "nestedType"
    w.agent_ended(host, "A.1")
    assert w.spawn(host, Agent("A.4", "review", "A", "sub")).verdict == "approved"
    assert not w.model.line


def test_the_allowance_of_a_lone_session(server: Server) -> None:
    """Its own slots and what is free; "" while another is there, while it is paused, and with an eval worker."""
    w = world(server, p=says(3, exempt=["lint"]))
    host = comes(w, "host")
    told = [w.beat_session(host).fields["allowance"]]
    runs(w, host, "A")
    runs(w, host, "L", "lint")
    told.append(w.beat_session(host).fields["allowance"])
    w.started(host, Agent("R", "task"))
    told.append(w.beat_session(host).fields["allowance"])
    other = comes(w, "other", machine="m2")
    told.append(w.beat_session(host).fields["why"])
    w.leave(other)
    told.append(w.spawn(host, Agent("E", "task"), "eval").fields["why"])
    w.pause("m2")
    told.append(w.beat_session(host).fields["why"])
    assert told == ["3", "4", "3", "others", "eval", "paused"]
