"""Sessions come, go, die, and take over what was theirs."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

from coord.keys import Keys
from tests.bridge.host import Host, running
from tests.cli.place import Place
from tests.waiting import Awake, until

Hosts = Callable[..., Host]


def sessions(place: Place) -> dict[str, dict[str, Any]]:
    """The sessions on the board, by letter."""
    found = [json.loads(text) for text in place.redis("HVALS", Keys(place.scope)["SESSIONS"])]
    return {one["label"]: one for one in found}


def slots(place: Place) -> dict[str, str]:
    """Agents on the board and their states."""
    found = [json.loads(text) for text in place.redis("HVALS", Keys(place.scope)["SLOTS"])]
    return {one.get("agent", "?"): one["state"] for one in found}


def test_opening(host: Hosts, place: Place) -> None:
    """The answer has all that the host needs, and the board knows host and bridge by their processes."""
    it = host(opened=False)
    result = it.open(running("R", "Task"))
    assert result == {
        "protocol": 1, "active": True, "session": it.session, "label": "A", "scope": place.scope,
        "footer": "coord A · work 1/2", "env": {"OMP_COORD_SESSION": it.session}, "notices": result["notices"],
        "tools": result["tools"], "commands": result["commands"],
        "spawnQueue": {"drive": True, "allowance": 1, "note": result["spawnQueue"]["note"]},
    }  # fmt: skip
    assert [tool["name"] for tool in result["tools"]] == ["coord_status", "coord_pause", "coord_resume"]
    assert "1 may run now" in result["spawnQueue"]["note"]
    (notice,) = result["notices"]
    assert notice["level"] == "info"
    assert notice["text"].startswith(f"session A of {place.scope}; no other session; spawns over the cap wait")
    record = sessions(place)["A"]
    assert (record["process"]["pid"], record["bridge"]["pid"]) == (it.pid, it.bridge.pid)
    assert (record["cwd"], record["hostSession"]) == (place.folder, it.name)


def test_the_next_one_is_told_of_the_others(host: Hosts, place: Place) -> None:
    """Letter and folder of each, and a pause with its reason; who was alone learns that it is not any more."""
    first, second = host(), host(opened=False)
    first.call("slash.run", args="pause for the demo")
    notice = second.open()["notices"][0]["text"]
    assert f"session B of {place.scope}; others: A in {place.folder}; paused by session A: for the demo" in notice
    assert "spawns do not wait" in notice
    first.call("slash.run", args="resume")
    first.until_told("allowance", "other sessions are on the board")


def test_letters_are_given_back(host: Hosts, place: Place) -> None:
    """The lowest free letter is given."""
    first, second = host(), host()
    assert (first.label, second.label) == ("A", "B")
    first.end_input()
    assert host().label == "A"


def test_a_second_open_closes_the_first(host: Hosts, place: Place) -> None:
    """`/new` in the host: the old session leaves with its agents recorded as ended, and its late ends change nothing."""
    it = host()
    old = it.session
    it.run("W0")
    it.open(sessionId="another")
    assert list(sessions(place)) == ["A"]
    assert it.session != old
    it.run("W0")
    assert it.call("agent.ended", session=old, id="W0") == {"allowance": 2}
    assert slots(place) == {"W0": "running"}
    left = place.events("session_left")[-1]
    assert (left["session"], left["reason"], left["agents"]) == (old, "new", "[]")


def test_opening_again_where_it_is_not_active(host: Hosts, place: Place) -> None:
    """The same host session opens again in a folder without a file: what it had does not stay behind on the board."""
    it, other = host(), host()
    it.run("W0")
    assert not it.open(cwd="/")["active"]
    assert list(sessions(place)) == ["B"]
    assert slots(place) == {}
    assert other.spawn()["used"] == 0


def test_closing_says_why(host: Hosts, place: Place) -> None:
    """Only exit and signal leave agents mid-run; after `session.close` a session can be opened again."""
    it = host()
    for reason, mid_run in (("exit", ["W0"]), ("signal", ["W0"]), ("switch", []), ("branch", []), ("new", [])):
        it.run("W0")
        assert it.call("session.close", reason=reason) is None
        left = place.events("session_left")[-1]
        assert (left["reason"], [agent["id"] for agent in json.loads(left["agents"])]) == (reason, mid_run)
        assert it.code("spawn.request", parent={"id": "Main", "kind": "main"}, type="task") == -32001
        it.open()
    assert [event["type"] for event in place.events("session_joined")] == ["session_joined"] * 6


def test_a_bridge_that_died_is_followed_by_another(host: Hosts, place: Place) -> None:
    """Its session keeps letter, slots and line; the next bridge of that host session takes them over."""
    it, other = host(), host()
    it.run("W0")
    other.run("W1")
    assert it.spawn()["place"] == 1
    session = it.session
    it.kill_bridge()
    it.restart()
    result = it.open(running("W0"))
    assert (result["session"], result["label"]) == (session, "A")
    assert result["footer"] == "coord A · work 2/2 · line work #1"
    assert slots(place) == {"W0": "running", "W1": "running"}
    assert len(place.events("session_reopened")) == 1
    other.ended("W1")
    it.until_told("deliver", "work")


def test_a_lost_bridge_costs_its_session_nothing_for_a_minute(host: Hosts, place: Place, agents: Any) -> None:
    """The host lives: others vouch for the session, which keeps its slot; it is marked, and not dropped."""
    agents(lease=2)
    it, other = host(), host()
    it.run("W0")
    it.kill_bridge()
    until(lambda: sessions(place)["A"].get("bridgeLostAt"), "the bridge is missed")
    assert slots(place) == {"W0": "running"}
    assert place.events("session_left") == []
    del other


def test_a_dead_session_makes_room_at_once_when_somebody_waits(host: Hosts, place: Place, agents: Any) -> None:
    """kill -9 of host and bridge: whoever waits for its slot sees it within about a second, long before a lease ends."""
    agents(lease=60)
    dead, waiter = host(), host()
    dead.run("W0")
    dead.run("W1")
    assert waiter.spawn()["place"] == 1
    dead.die()
    waiter.until_told("deliver", "held", timeout=20)  # a third of the lease
    assert list(sessions(place)) == ["B"]
    left = place.events("session_left")[-1]
    assert (left["reason"], len(json.loads(left["agents"]))) == ("died", 2)


def test_the_dead_are_not_counted_as_others(host: Hosts, place: Place) -> None:
    """Who joins looks at the processes of all the others first: alone is alone, and the letter is free."""
    host().die()
    newcomer = host(opened=False)
    result = newcomer.open()
    assert result["spawnQueue"]["drive"]
    assert "no other session" in result["notices"][0]["text"]
    assert len(sessions(place)) == 1


def test_a_recycled_pid_is_nobody(host: Hosts, place: Place) -> None:
    """A session whose pid belongs to another process now, by its start time, is gone for everybody who looks."""
    it = host()
    key = Keys(place.scope)["SESSIONS"]
    record = sessions(place)["A"]
    record["process"] = {"pid": os.getpid(), "start": "1", "instance": "forged"}
    it.kill_bridge()
    place.redis("HSET", key, it.session, json.dumps(record))
    assert "no other session" in host("other", opened=False).open()["notices"][0]["text"]


def test_two_bridges_of_one_host(host: Hosts, place: Place) -> None:
    """The second takes the session over; the first says so once, asks nothing more, and lets spawns through."""
    first = host("same")
    second = Host(place, "same")
    assert second.open(pid=first.pid)["session"] == first.session
    first.until_told("notify", "taken this session over")
    assert not first.spawn()["coordinated"]
    first.end_input()
    assert list(sessions(place)) == ["A"]
    assert second.spawn()["coordinated"]


def test_opening_again_while_the_server_is_full(host: Hosts, place: Place) -> None:
    """The new connection is not to be had for a moment: what the session held, and its place in line, is there when it is."""
    it, other = host(), host()
    other.run("W0")
    it.run("W1")
    assert it.spawn()["place"] == 1
    most = place.redis("CONFIG", "GET", "maxclients")["maxclients"]
    place.redis("CONFIG", "SET", "maxclients", "1")
    try:
        assert it.open(running("W1"))["code"] == "noServer"
    finally:
        place.redis("CONFIG", "SET", "maxclients", most)
    joined = it.until_told("joined")
    assert (joined["session"], joined["footer"]) == (it.session, "coord A · work 2/2 · line work #1")
    assert [one["reason"] for one in place.events("session_left")] == []


def test_opening_again_takes_over_what_is_there(host: Hosts, place: Place) -> None:
    """The same host session on the same bridge keeps its id; a delivery that was not acknowledged comes again, one that
    was, or that is named in `shown`, does not."""
    it, other = host(), host()
    it.run("W0")
    it.run("W1")
    assert not other.spawn()["allowed"]
    it.ended("W0")
    first = other.until_told("deliver", "work")
    session = other.session
    other.open()
    assert other.session == session
    until(lambda: other.told("deliver") == [first, first], "it is delivered again")
    other.call("message.ack", ids=[first["id"]])
    other.open()
    other.kill_bridge()
    other.restart()
    other.open(shown=[first["id"]])
    assert other.told("deliver") == [first, first]
    other.kill_bridge()
    other.restart()
    other.open()
    until(lambda: other.told("deliver") == [first, first, first], "a new bridge delivers it")


def test_files_that_differ(host: Hosts, place: Place) -> None:
    """One warning names both."""
    host()
    os.mkdir(place.path("sub"))
    place.write("sub/.omp-coord.json", json.dumps({"scope": place.scope, "agents": {"pools": {"work": {"cap": 1}}}}))
    result = host(opened=False).open(cwd=place.path("sub"))
    (warning,) = [one["text"] for one in result["notices"] if one["level"] == "warning"]
    assert place.path("sub/.omp-coord.json") in warning
    assert place.path(".omp-coord.json") in warning
    assert result["footer"] == "coord B · work 0/1"


def test_a_file_that_names_another_scope_or_is_gone(host: Hosts, place: Place) -> None:
    """The session stays where it is; that is said, and `/coord` goes on showing its board."""
    it = host()
    it.run("W0")
    place.write(".omp-coord.json", '{"scope": "elsewhere", "agents": {"pools": {"work": {"cap": 2}}}}')
    told = it.until_told("notify", "names the scope elsewhere now")
    assert (told["level"], told["text"].endswith(f"stays in {place.scope}")) == ("warning", True)
    assert f"Board {place.scope} " in it.call("slash.run", args="")["text"]
    os.unlink(place.path(".omp-coord.json"))
    shown = it.call("slash.run", args="")["text"]
    assert (f"Board {place.scope} " in shown, "work" in shown) == (True, True)
    assert it.spawn()["cap"] == 2


def test_a_changed_file_counts_at_the_next_beat(host: Hosts, place: Place, agents: Any) -> None:
    """A raised cap serves the line with no release; an invalid file is reported and the old one kept."""
    it = host()
    it.run("W0")
    it.run("W1")
    assert not it.spawn()["allowed"]
    place.write(".omp-coord.json", "{")
    it.until_told("notify", "is not used")
    agents(pools={"work": {"cap": 3}})
    it.until_told("deliver", "held")
    it.until_footer("coord A · work 2/3 · held work 5m")


def test_opening_again_in_a_folder_of_the_same_board(host: Hosts, place: Place) -> None:
    """A conversation that goes to another folder of its project keeps its letter, its slots and its place in line."""
    it, other = host(), host()
    it.run("W0")
    other.run("W1")
    assert it.spawn()["place"] == 1
    os.mkdir(place.path("sub"))
    again = it.open(running("W0"), cwd=place.path("sub"))
    assert (again["label"], again["footer"]) == ("A", "coord A · work 2/2 · line work #1")
    assert [one["reason"] for one in place.events("session_left")] == []
    assert sessions(place)["A"]["cwd"] == place.path("sub")


def test_a_pool_that_the_file_has_no_more(host: Hosts, agents: Any) -> None:
    """Its line can be left by its name."""
    it, other = host(), host()
    agents(pools={"work": {"cap": 1}, "big": {"cap": 0, "types": ["big"]}})
    it.until_footer("coord A · work 0/1 · big 0/0")
    assert not it.spawn("big")["allowed"]
    agents(pools={"work": {"cap": 1}})
    it.until_footer("coord A · work 0/1 · line big #1")
    assert [one["label"] for one in it.call("slash.complete", prefix="leave ")["items"]] == ["work", "big"]
    assert it.call("slash.run", args="leave big")["text"] == "Left the line of big; the next one is served."
    assert "no pool" in other.call("slash.run", args="leave big")["text"]
    it.until_footer("coord A · work 0/1")


def test_a_shorter_lease_is_renewed_more_often(host: Hosts, place: Place, agents: Any) -> None:
    """The board takes a changed lease up at once, so the beats that renew it come in time."""
    it = host()
    agents(lease=2)
    lease = ("ZSCORE", place.board.keys["LEASES"], f"s|{it.session}")
    until(lambda: int(place.redis(*lease)) - place.board.board_sweep().now < 2_500, "the lease is short")
    seen = set()
    with Awake() as clock:
        until(lambda: seen.add(place.redis(*lease)) or len(seen) > 8, "it is renewed eight times")
    assert clock.seconds < 12  # every two seconds it would be 16
