"""The board goes away, forgets, and comes back: nobody is kept from working, and what runs counts again."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from coord.keys import Keys
from tests.bridge.conftest import settled
from tests.bridge.host import MAIN, Host, running
from tests.bridge.test_sessions import sessions, slots
from tests.cli.den import Den
from tests.cli.place import Place
from tests.servers import Server
from tests.waiting import until

Hosts = Callable[..., Host]


@pytest.fixture
def server() -> Iterator[Server]:
    """A server of the test's own."""
    with Server("redis7") as running:
        yield running


def test_without_a_server_spawns_are_let_through(host: Hosts, place: Place, server: Server) -> None:
    """One error notice per outage, one when it is over; what started meanwhile counts then, and the line is kept."""
    it, other = host(), host()
    it.run("W0")
    it.run("W1")
    assert other.spawn()["place"] == 1
    other.until_footer("coord B · work 2/2 · line work #1")
    for outage in (1, 2):
        server.stop()
        result = it.spawn(key=f"X{outage}")
        assert result == {
            "allowed": True, "coordinated": False, "pool": None, "used": 0, "cap": None, "allowance": None,
        }  # fmt: skip
        it.started(f"X{outage}")
        it.until_footer("coord offline")
        until(lambda: it.told("allowance")[-1]["note"].endswith("the board is not reached"), "the reason is told")
        server.restart()
        until(partial(_said_to_be_back, it, outage), f"the end of outage {outage} is told")
        line = " · line work #2" if outage == 2 else ""
        it.until_footer(f"coord A · work {2 + outage}/2{line}")
        assert len(it.texts("error")) == outage
        assert _said_to_be_back(it, outage)
        assert not it.spawn()["allowed"]
    assert "X2" in slots(place)
    other.until_footer("coord B · work 4/2 · line work #1")


def test_a_connection_that_breaks_is_no_outage(host: Hosts, place: Place) -> None:
    """Connections are cut at random between and under spawns: no answer shows it, and nobody is told."""
    it = host()
    for n in range(20):
        place.redis("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        place.redis("CLIENT", "KILL", "TYPE", "pubsub", "SKIPME", "yes")
        assert it.spawn(key=f"W{n}")["coordinated"]
        it.started(f"W{n}")
        it.ended(f"W{n}")
    assert it.texts("error") == []
    assert it.label == "A"
    assert list(sessions(place)) == ["A"]


def test_forgotten_scripts_are_no_fault(host: Hosts, place: Place) -> None:
    """SCRIPT FLUSH under a session shows nowhere."""
    it = host()
    for _ in range(5):
        place.redis("SCRIPT", "FLUSH")
        assert it.spawn("reviewer")["coordinated"]


def test_a_flushed_board_is_rebuilt_from_the_living(host: Hosts, place: Place) -> None:
    """Letters, agents and the line come back; nothing is approved before all have had their say, so no cap breaks."""
    first, second = host(), host()
    first.run("W0")
    second.run("W1")
    assert second.spawn()["place"] == 1
    second.until_footer("coord B · work 2/2 · line work #1")
    place.redis("FLUSHALL")
    asked = first.send("spawn.request", parent=MAIN, type="task")
    until(lambda: len(sessions(place)) == 2, "both are back")
    assert first.answer(asked)["result"]["cause"] == "full"
    assert slots(place) == {"W0": "running", "W1": "running"}
    assert {label: one["id"] for label, one in sessions(place).items()} == {"A": first.session, "B": second.session}
    second.until_footer("coord B · work 2/2 · line work #1")
    first.ended("W0")
    second.until_told("deliver", "held")
    assert first.texts("error") == second.texts("error") == []


def test_jobs_of_a_session_are_its_own_after_a_flush(host: Hosts, place: Place) -> None:
    """The one that runs and the one that waits come back with their session, which still shares fairly for them."""
    it = host()
    env = {"OMP_COORD_SESSION": it.session}
    gate = place.gate()
    jobs = [place.run("--quiet", "q", "--", *gate.command(), env=env)]
    gate.waits()
    jobs.append(place.run("--quiet", "q", "--", "true", env=env))
    place.until_jobs(1, "waiting")
    place.redis("DEL", *place.board.keys.all())
    place.until_jobs(1, "running")
    place.until_jobs(1, "waiting")
    assert {(job["session"], job["owner"]) for job in place.jobs()} == {(it.session, it.session)}
    gate.open()
    assert [proc.wait(20) for proc in jobs] == [0, 0]


def test_a_new_board_holds_spawn_answers_back(host: Hosts, place: Place) -> None:
    """While it settles, answers wait for the rest of the 3 s, in the order in which they were asked, and no hold is
    announced for what the spawn itself uses."""
    it = host()
    place.redis("FLUSHALL")
    ids = [it.send("spawn.request", parent=MAIN, type="task", key=f"W{n}") for n in range(3)]
    late = it.send("slash.complete", prefix="")
    answers = [it.answer(id)["result"] for id in ids]
    assert [answer["allowed"] for answer in answers] == [True, True, False]
    assert [one["id"] for one in it.seen if one.get("id") in (late, *ids)] == [late, *ids]
    assert it.answer(late)["result"]["items"]
    assert it.told("deliver") == []


def test_ten_running_and_six_asking_after_a_flush(host: Hosts, place: Place, agents: Any) -> None:
    """The cap holds however they race: four of four run, six newcomers ask at once, none is let in."""
    agents(pools={"work": {"cap": 4}})
    hosts = [host() for _ in range(5)]
    for n, it in enumerate(hosts[:4]):
        it.run(f"W{n}")
    place.redis("FLUSHALL")
    asked = [(it, it.send("spawn.request", parent=MAIN, type="task")) for it in [*hosts, hosts[0]]]
    answers = [it.answer(id)["result"] for it, id in asked]
    assert [answer["allowed"] for answer in answers] == [False] * 6
    assert len(slots(place)) == 4


def test_a_server_that_does_not_answer(host: Hosts, server: Server) -> None:
    """SIGSTOP of the server: a spawn is let through within seconds, and counting goes on when it wakes."""
    it = host()
    it.run("W0")
    os.kill(server.pid, signal.SIGSTOP)
    try:
        assert not it.spawn(key="W1")["coordinated"]
        it.started("W1")
        it.until_footer("coord offline")
    finally:
        os.kill(server.pid, signal.SIGCONT)
    it.until_footer("coord A · work 2/2")


def test_a_server_killed_and_started_again(host: Hosts, place: Place, server: Server) -> None:
    """kill -9, with the last second of its log lost or not: all that runs stands on the board again."""
    it = host()
    for n in range(2):
        it.run(f"W{n}")
        server.kill()
        server.restart()
        wanted = {f"W{i}": "running" for i in range(n + 1)}
        until(partial(_stands, place, wanted), "all run again")
    it.until_footer("coord A · work 2/2")


def test_the_embedded_server_is_started_again(den: Den) -> None:
    """A dead embedded server is nobody's outage: whoever finds it dead starts it."""
    place = Place(den)
    try:
        place.config(agents={"pools": {"work": {"cap": 2}}})
        it = Host(place)
        assert it.open()["active"]
        it.run("W0")
        os.kill(den.server_pid(), signal.SIGKILL)
        it.until_footer("coord A · work 1/2")
        until(lambda: it.spawn("reviewer")["coordinated"], "the board is there again")
        assert slots(place)["W0"] == "running"
    finally:
        place.close()


def test_stopped_alone_and_woken(host: Hosts, place: Place, agents: Any) -> None:
    """SIGSTOP for longer than the lease with nobody there: all is as it was."""
    agents(lease=2)
    it = host()
    it.run("W0")
    it.freeze()
    lease = f"s|{it.session}"
    until(lambda: _over(place, lease), "its lease is over")
    it.thaw()
    assert it.spawn()["allowed"]
    assert slots(place)["W0"] == "running"
    assert [event["type"] for event in place.events("session_left")] == []


def test_a_hold_is_told_once(host: Hosts, place: Place, server: Server) -> None:
    """A hold's time moves on when the server was stopped, and its board may be lost: it is the hold that was told."""
    holder, other = host(), host()
    holder.run("W0")
    holder.run("W1")
    assert not other.spawn()["allowed"]
    holder.ended("W0")
    other.until_told("deliver")
    deadlines, name = Keys(place.scope)["DEADLINES"], f"hold|work|{other.session}"
    before = float(place.redis("ZSCORE", deadlines, name))
    began = os.times().elapsed
    os.kill(server.pid, signal.SIGSTOP)
    try:
        until(lambda: os.times().elapsed - began > 6, "longer than half a lease", 20)
    finally:
        os.kill(server.pid, signal.SIGCONT)
    until(lambda: float(place.redis("ZSCORE", deadlines, name)) > before, "its time has moved")
    other.until_footer("coord B · work 1/2 · held work 5m")
    place.redis("FLUSHALL")
    until(lambda: place.redis("ZSCORE", deadlines, name), "it is held again")
    other.call("slash.run", args="help")
    other.kill_bridge()
    other.restart()
    other.open(shown=[one["id"] for one in other.told("deliver")])
    other.call("slash.run", args="help")
    assert len(other.told("deliver")) == 1


def test_stopped_while_others_live(host: Hosts, place: Place, agents: Any) -> None:
    """The others see its process alive and vouch for it, for as long as it takes: age alone reaps nobody here."""
    agents(lease=2)
    it, other = host(), host()
    it.run("W0")
    it.run("W1")
    other.spawn()
    it.freeze()
    lease = f"s|{it.session}"
    for _ in range(3):
        before = place.redis("ZSCORE", place.board.keys["LEASES"], lease)
        until(partial(_later, place, lease, before), "it is vouched for")
    assert slots(place) == {"W0": "running", "W1": "running"}
    it.thaw()
    it.ended("W0")
    other.until_told("deliver")
    assert place.events("session_left") == []


def test_reaped_by_mistake_it_comes_back(host: Hosts, place: Place) -> None:
    """A session that was dropped though it lives registers again with letter, id and all that runs."""
    it = host()
    it.run("W0")
    record = sessions(place)["A"]
    place.board.vouched = [{"kind": "session", "id": it.session, "is": "gone", **record["process"]}]
    place.board.board_sweep()
    # Gone in that very step. How long it stays away is its own affair: it may beat at this moment.
    assert [event["session"] for event in place.events("session_left")] == [it.session]
    until(lambda: slots(place) == {"W0": "running"}, "it is back")
    assert sessions(place)["A"]["id"] == it.session
    assert it.spawn()["allowed"]


def test_a_lost_answer_takes_no_second_slot(host: Hosts, place: Place, agents: Any) -> None:
    """Asked again for the same slot, the board says again that it was given, and for a cap of one that it is free."""
    agents(pools={"work": {"cap": 1}})
    it = host()
    words: dict[str, Any] = {"parent": "Main", "parent_kind": "main", "type": "task", "key": "W0"}
    first = place.board.spawn_request(it.session, "slot-1", **words)
    again = place.board.spawn_request(it.session, "slot-1", **words)
    assert (first.verdict, again.verdict) == ("approved", "approved")
    assert len(place.events("spawn_approved")) == 1
    assert place.board.spawn_request(it.session, "slot-2", **words).verdict == "refused"


def test_a_session_on_another_machine_lapses(host: Hosts, place: Place, agents: Any) -> None:
    """Nobody here can see its processes: it goes when its lease is over, and what it held is free."""
    agents(lease=2)
    it = host()
    elsewhere = place.board
    elsewhere._common["machine"] = "another"
    policy = place.redis("HKEYS", elsewhere.keys["POLICIES"])[0]
    record = '{"cwd":"/x","process":{"pid":1,"start":"1","instance":"i"},"bridge":{"pid":1,"start":"1"},"version":"1"}'
    agents_there = '[{"id":"V0","type":"task","parent":{"id":"Main","kind":"main"},"slot":"v0"}]'
    elsewhere.session_join("far", "h", policy=policy, policy_json="{}", agents=agents_there, record=record)
    it.until_told("footer", "coord A · work 1/2")
    it.until_footer("coord A · work 0/2")
    assert place.events("session_left")[-1]["session"] == "far"


def _said_to_be_back(it: Host, times: int) -> bool:
    return len([text for text in it.texts("info") if "the board is back" in text]) == times


def _stands(place: Place, wanted: dict[str, str]) -> bool:
    return slots(place) == wanted


def _later(place: Place, lease: str, before: float) -> bool:
    return float(place.redis("ZSCORE", place.board.keys["LEASES"], lease)) > before


def _over(place: Place, lease: str) -> bool:
    seconds, micros = place.redis("TIME")
    return float(place.redis("ZSCORE", place.board.keys["LEASES"], lease)) < int(seconds) * 1000 + int(micros) // 1000


def test_what_runs_is_told_at_reopen(host: Hosts, place: Place) -> None:
    """Bridge and server are gone together; the next bridge brings all that the host says runs."""
    settled(place)
    it = host()
    it.run("W0")
    it.kill_bridge()
    place.redis("FLUSHALL")
    it.restart()
    it.open(running("W0"), running("W1", "reviewer"))
    assert slots(place) == {"W0": "running", "W1": "running"}
