"""Agent slots as a host meets them: every row of the table, through pipes."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from tests.bridge.host import MAIN, Host, running, under
from tests.bridge.test_sessions import slots
from tests.cli.place import Place
from tests.waiting import until

Hosts = Callable[..., Host]
Rules = Callable[..., None]


def test_approved_and_started(host: Hosts, place: Place) -> None:
    """The slot is taken by the approval, under the spawn's key, whatever the case of the type."""
    it = host()
    result = it.spawn("TASK", "W0")
    assert result == {"allowed": True, "coordinated": True, "pool": "work", "used": 0, "cap": 2, "allowance": 2}
    assert slots(place) == {"W0": "starting"}
    assert it.started("W0") == {"allowance": 2}
    assert slots(place) == {"W0": "running"}
    it.until_footer("coord A · work 1/2")


def test_a_refusal_tells_a_model_what_to_do(host: Hosts) -> None:
    """Pool, use, holders, place, what comes next, and that retrying does not help; the user is warned once."""
    first, second = host(), host()
    first.run("W0")
    second.run("V0")
    refused = second.spawn("task")
    assert (refused["allowed"], refused["cause"], refused["place"], refused["used"]) == (False, "full", 1, 2)
    reason = refused["reason"]
    assert reason.startswith("omp-coord: nothing was started: the pool work is full, 2/2 used (by session: A 1, B 1).")
    assert "number 1 in line; the next free slot is held for it for 5 minutes and you get a message" in reason
    assert "Do not retry in a loop: it does not help." in reason
    assert first.spawn()["place"] == 2
    assert second.spawn()["place"] == 1
    until(lambda: len(second.texts("warning")) == 2, "a warning for each refusal")
    warned = "refused: task for Main: pool work is full, 2/2 used (by session: A 1, B 1); place 1 in line"
    assert second.texts("warning") == [warned] * 2


@pytest.mark.parametrize("type", ["x" * 5000, "\x1b[31mred\n", "task \ud83d\ude00"])
def test_a_refusal_is_short_and_clean_whatever_was_asked(host: Hosts, agents: Rules, type: str) -> None:
    """Under 400 characters, on one line, with nothing that reaches into a terminal."""
    agents(nested={"types": ["a" * 200, "b" * 200, "c" * 200]})
    it = host()
    it.run("W0")
    it.run("W1")
    for parent in (MAIN, under("W0")):
        reason = it.spawn(type, parent=parent)["reason"]
        assert len(reason) < 400
        assert reason.isprintable()
    until(lambda: len(it.texts("warning")) == 2, "a warning for each refusal")
    assert all(text.isprintable() for text in it.texts())


def test_a_hold_is_told_once_and_used_by_a_spawn(host: Hosts, place: Place) -> None:
    """One message that starts a turn, one notice, both with the pool and the local time; others are refused meanwhile."""
    it, other = host(), host()
    it.run("W0")
    it.run("W1")
    other.spawn()
    it.ended("W0")
    delivered = other.until_told("deliver")
    assert (delivered["to"], delivered["from"], delivered["startTurn"]) == ("main", "omp-coord", True)
    until_ms = int(place.redis("ZRANGE", place.board.keys["DEADLINES"], 0, -1, "WITHSCORES")[0][1])
    # The bridge reckons the board's clock from when an answer reaches it: at the end of a minute it may say the next one.
    clocks = [time.strftime("%H:%M", time.localtime(until_ms / 1000 + late)) for late in (0, 30)]
    (held,) = other.texts("info")
    assert held in [f"a slot of the pool work is held for this session until {clock}" for clock in clocks]
    assert held in delivered["text"]
    other.until_footer("coord B · work 1/2 · held work 5m")
    refused = it.spawn()
    assert (refused["cause"], refused["place"]) == ("held", 2)
    assert "held for sessions before this one" in refused["reason"]
    assert other.spawn()["allowed"]
    other.until_footer("coord B · work 2/2")
    assert len(other.told("deliver")) == 1


def test_a_hold_that_lapses_goes_on(host: Hosts, place: Place, agents: Rules) -> None:
    """Who did not use it leaves the line, and the next one gets it; the first is not told again."""
    agents(holdMinutes=0.02)
    holder, first, second = host(), host(), host()
    holder.run("W0")
    holder.run("W1")
    first.spawn()
    second.spawn()
    holder.ended("W0")
    text = first.until_told("deliver")["text"]
    assert text.count(":") >= 3  # a short hold is told with its seconds
    second.until_told("deliver")
    assert place.events("hold_lapsed")[0]["session"] == first.session
    first.until_footer("coord B · work 1/2")
    assert len(first.told("deliver")) == 1


def test_leaving_the_line(host: Hosts) -> None:
    """`/coord leave` gives a hold or a place back, and the next one is served at once; a wrong pool is named."""
    holder, first, second = host(), host(), host()
    holder.run("W0")
    holder.run("W1")
    first.spawn()
    second.spawn()
    holder.ended("W0")
    first.until_told("deliver")
    assert "no pool" in first.call("slash.run", args="leave wrok")["text"]
    assert first.call("slash.run", args="leave work")["text"] == "Left the line of work; the next one is served."
    second.until_told("deliver")
    assert first.call("slash.run", args="leave")["text"] == "This session was in no line."


def test_a_pause_refuses_everything_and_stops_holds(host: Hosts, place: Place, agents: Rules) -> None:
    """Exempt and nested ones too; counted ones join the line. After it the hold is told with its new time."""
    agents(pools={"work": {"cap": 1}})
    it, other = host(), host()
    it.run("W0")
    other.spawn()
    it.ended("W0")
    other.until_told("deliver")
    it.call("tool.call", agent="W0", name="coord_pause", args={"reason": "release"})
    for type, parent in (("task", MAIN), ("reviewer", MAIN), ("reviewer", under("W0"))):
        refused = it.spawn(type, parent=parent)
        assert (refused["allowed"], refused["cause"]) == (False, "paused")
        assert "all work of this project is paused by session A: release." in refused["reason"]
    assert other.spawn()["cause"] == "paused"
    other.until_footer("coord B · work 0/1 · paused · held work")
    answer = other.call("tool.call", agent="Main", name="coord_resume", args={})
    assert answer == {"text": "Resumed: agents and jobs start again.", "isError": False}
    assert other.call("tool.call", agent="Main", name="coord_resume")["text"] == "It was not paused."
    until(lambda: len(other.told("deliver")) == 2, "the hold with its new time")
    assert other.spawn()["allowed"]


def test_exempt_and_nested(host: Hosts, place: Place) -> None:
    """An exempt type takes no slot of a pool; a subagent may start only those, one at a time."""
    it = host()
    it.run("W0")
    it.run("W1")
    assert it.spawn("Reviewer", "R0")["pool"] is None
    refused = it.spawn("task", parent=under("W0"))
    assert (refused["cause"], "place" in refused, refused["pool"]) == ("nestedType", False, None)
    assert "a subagent may start only: reviewer; not task." in refused["reason"]
    it.run("W0.R", "reviewer", under("W0"))
    assert it.spawn("reviewer", parent=under("W0"))["cause"] == "nestedFull"
    assert it.spawn("reviewer", parent=under("W1"))["allowed"]
    it.ended("W0.R")
    assert it.spawn("reviewer", parent=under("W0"))["allowed"]  # its own ending one is settled first
    it.until_footer("coord A · work 2/2")


def test_an_unknown_kind_is_counted(host: Hosts) -> None:
    """What a newer plugin calls by another word takes a slot like any other."""
    it = host()
    assert it.spawn(parent={"id": "x", "kind": "workflow"}, invocation="batch")["pool"] == "work"
    assert it.spawn(parent={"id": "x", "kind": "workflow"})["used"] == 1
    assert not it.spawn(parent={"id": "x", "kind": "workflow"})["allowed"]


def test_started_without_asking(host: Hosts, place: Place) -> None:
    """It counts all the same; over the cap the session gets one warning with the count, and nothing is approved."""
    it = host()
    it.run("W0")
    it.run("W1")
    assert it.started("old") == {
        "allowance": 2, "warning": "task old started without asking: the pool work is over its cap by 1",
    }  # fmt: skip
    assert it.started("old") == {"allowance": 2}
    it.until_footer("coord A · work 3/2")
    it.ended("W0")
    assert not it.spawn()["allowed"]


def test_a_tan_clone_is_of_type_sub(host: Hosts, place: Place) -> None:
    """It shows only as a start, counts in the default pool, and may start exempt types only."""
    it = host()
    it.started("Main.t1", "sub")
    assert it.spawn("task", parent=under("Main.t1"))["cause"] == "nestedType"
    it.until_footer("coord A · work 1/2")


def test_eval_agents_are_known_again(host: Hosts) -> None:
    """Asked for as eval: the host's queue is not driven while one has a slot; also when the same id starts again later."""
    it = host()
    assert it.spawn(key="E0", invocation="eval")["allowance"] is None
    it.until_told("allowance", "eval workers run")
    it.started("E0")
    it.ended("E0")
    until(lambda: it.told("allowance")[-1]["value"] == 2, "the queue is driven again")
    assert it.started("E0") == {"allowance": None}
    assert "eval workers run" in it.call("tool.call", agent="Main", name="coord_status")["text"]


def test_an_approved_agent_that_never_starts(host: Hosts, place: Place, agents: Rules) -> None:
    """Its slot is free after `agents.startTimeoutSeconds`, and the session in line is served."""
    agents(startTimeoutSeconds=4, pools={"work": {"cap": 1}})  # the other one must ask before that
    it, other = host(), host()
    assert it.spawn(key="W0")["allowed"]
    assert not other.spawn()["allowed"]
    other.until_told("deliver")
    assert [event["agentId"] for event in place.events("start_timed_out")] == ["W0"]


def test_an_ended_agent_counts_no_longer_than_it_must(host: Hosts, place: Place) -> None:
    """Its slot is free half a second later, also when nobody else is there to take the board a step further."""
    it = host()
    took = []
    for n in range(4):
        it.run(f"W{n}")
        it.ended(f"W{n}")
        until(lambda n=n: len(place.events("run_ended")) == n + 1, "its slot is free")
        took.append(int(place.events("run_ended")[n]["at"]) - int(place.events("run_ending")[n]["at"]))
    assert min(took) >= 500
    # Left to the next beat it would be two seconds each time. (A machine that stands still makes some of them longer.)
    assert min(took) < 1500


def test_an_ending_that_flickers(host: Hosts, place: Place) -> None:
    """A start within half a second of the end goes on in the same slot; nobody else gets it in between."""
    it, other = host(), host()
    it.run("W0")
    it.run("W1")
    assert not other.spawn()["allowed"]
    end = ("agent.ended", {"session": it.session, "id": "W0"})
    start = ("agent.started", {"session": it.session, "id": "W0", "parent": MAIN, "type": "task"})
    for id in it.send_all(*[end, start] * 5):  # in one go: half a second between the two is what decides
        assert "result" in it.answer(id)
    assert slots(place) == {"W0": "running", "W1": "running"}
    assert place.events("hold_given") == []
    assert len(place.events("spawn_approved")) == 2
    it.ended("W0")
    other.until_told("deliver")


def test_lists_repair_what_events_missed(host: Hosts, place: Place) -> None:
    """Absent from two lists in a row has ended; unlisted ones are counted."""
    it = host()
    it.run("W0")
    it.run("W1")
    it.call("agents.sync", agents=[running("W1"), running("X")])
    assert slots(place) == {"W0": "running", "W1": "running", "X": "running"}
    it.call("agents.sync", agents=[running("W1"), running("X")])
    assert slots(place) == {"W1": "running", "X": "running"}
    it.call("agents.sync", agents=[running("W1")])
    it.call("agents.sync", agents=[running("W1"), running("X")])
    it.call("agents.sync", agents=[running("W1")])
    assert slots(place) == {"W1": "running", "X": "running"}


def test_an_agent_that_only_a_list_tells_of(host: Hosts, place: Place) -> None:
    """It is as if its start had been told: an approved one takes its slot, another one is warned of, once, when it takes the
    pool over its cap."""
    it = host()
    assert it.spawn(key="W0")["allowed"]
    it.call("agents.sync", agents=[running("W0"), running("X")])
    assert slots(place) == {"W0": "running", "X": "running"}
    assert [event["revived"] for event in place.events("run_started")] == ["", "1"]
    assert it.texts("warning") == []
    for _ in range(2):
        it.call("agents.sync", agents=[running("W0"), running("X"), running("Y", "sub")])
    it.started("Y", "sub")
    until(lambda: it.texts("warning"), "it is warned of")
    assert it.texts("warning") == ["sub Y started without asking: the pool work is over its cap by 1"]


def test_many_that_only_a_list_tells_of(host: Hosts, place: Place) -> None:
    """They cost one call and one warning, however many they are."""
    it = host()
    before = calls(place)
    it.call("agents.sync", agents=[running(f"X{n}") for n in range(300)])
    assert len(slots(place)) == 300
    assert calls(place) - before < 50
    assert it.texts("warning") == ["298 agents started without asking: the pool work is over its cap by 298"]


def calls(place: Place) -> int:
    """How many scripts the server has run."""
    (line,) = [one for one in place.redis("INFO", "commandstats").splitlines() if one.startswith("cmdstat_evalsha:")]
    return int(line.partition("calls=")[2].partition(",")[0])


def test_a_lost_end_is_seen_at_the_next_beats(host: Hosts, place: Place) -> None:
    """The board has an agent running that has ended: the beat's hash differs, and two lists take it off."""
    it = host()
    it.run("W0")
    it.ended("W0")
    until(lambda: slots(place) == {}, "its slot is free")
    # As if the end never came: the board has it running, the bridge knows that it does not.
    place.board.agent_started(it.session, "s0", "W0", parent="Main", parent_kind="main", type="task")
    until(lambda: slots(place) == {}, "the agent is off the board")
    assert len(place.events("run_ended")) == 2
