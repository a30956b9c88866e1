"""coord.Coordinator: what the page on queues says of the Python side, word by word."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import math
import threading
import time
from typing import Any

import pytest

import coord
from coord.coordinator import Coordinator
from tests.coord.desk import Desk, Taker, in_thread, taken
from tests.servers import free_port
from tests.waiting import until

NOBODY = "redis://127.0.0.1:1"


def test_a_slot_is_taken_and_given_back(desk: Desk) -> None:
    """Inside the `with` the job runs on the board as the slot says; afterwards nothing of it is left."""
    with desk.coordinator().slot("q", label="training") as slot:
        (job,) = desk.jobs()
        assert (job["id"], int(job["fence"]), job["lane"], job["state"]) == (slot.job, slot.fence, slot.lane, "running")
        assert (job["label"], job["queue"]) == ("training", "q")
        assert slot.coordinated
        assert slot.kill_asked is None
        job_id = slot.job
    assert desk.outcome(job_id)["outcome"] == "ok"
    desk.expect_empty()
    assert (slot.job, slot.fence, slot.coordinated) == ("", 0, False)


def test_names_of_the_package() -> None:
    """What the page names can be had from `coord` itself."""
    assert coord.Coordinator is Coordinator
    for name in ("WaitTimeout", "Unavailable", "ConfigError", "Refused", "Slot"):
        assert name in coord.__all__
        assert isinstance(getattr(coord, name), type)


# -- waiting


def test_wait_0_does_not_wait(desk: Desk) -> None:
    """With 0 a full queue is WaitTimeout at once, which names the holder; nothing stays on the board."""
    coordinator = desk.coordinator()
    with taken(coordinator.slot("q", label="the other\x1b[31m")):
        began = time.monotonic()
        with pytest.raises(coord.WaitTimeout, match=r"no slot of q is free \(held by the other"):
            coordinator.slot("q", wait=0).__enter__()
        assert time.monotonic() - began < 1
        assert len(desk.jobs()) == 1
    with coordinator.slot("q", wait=0) as slot:
        assert slot.coordinated


def test_wait_some_seconds(desk: Desk) -> None:
    """With a number the place in line is given up after that time, and WaitTimeout says so."""
    coordinator = desk.coordinator()
    with taken(coordinator.slot("q")):
        began = time.monotonic()
        with pytest.raises(coord.WaitTimeout, match=r"no slot of q within 0\.2 s \(held by python\)"):
            coordinator.slot("q", wait=0.2).__enter__()
        assert 0.2 <= time.monotonic() - began < 2
        assert len(desk.jobs()) == 1


def test_wait_for_ever(desk: Desk) -> None:
    """With None (the default) the slot comes when it is free, in the order of asking."""
    coordinator = desk.coordinator()
    with taken(coordinator.slot("q")) as first:
        second = Taker(coordinator.slot("q"))
        desk.until_jobs(1, "waiting")
        third = Taker(coordinator.slot("q"))
        desk.until_jobs(2, "waiting")
        assert not second.had.is_set()
    second.wait_had()
    assert not third.had.is_set()
    second.end()
    third.wait_had()
    third.end()
    assert first.fence < second.fence < third.fence
    desk.expect_empty()


@pytest.mark.parametrize("wait", [-1, -0.001, math.nan, -math.inf])
def test_a_wait_that_is_none(desk: Desk, wait: float) -> None:
    """A negative wait, or one that is no number, is a ConfigError before anything is asked."""
    with pytest.raises(coord.ConfigError, match="wait"):
        desk.coordinator().slot("q", wait=wait)


def test_a_cancelled_wait(desk: Desk) -> None:
    """A wait that somebody cancels is Refused, with who and why."""
    coordinator = desk.coordinator()
    with taken(coordinator.slot("q")):
        waiter = Taker(coordinator.slot("q"))
        (job,) = desk.until_jobs(1, "waiting")
        board(desk).job_cancel(job["id"], by="ann\x1b", reason="lunch")
        with pytest.raises(coord.Refused, match=r"^the wait for q was cancelled by ann: lunch$"):
            waiter.end()
    desk.expect_empty()


def test_a_wait_that_could_never_end(desk: Desk) -> None:
    """Two that hold what the other wants: the one that asks last is Refused at once."""
    coordinator = desk.coordinator()
    inner = threading.Event()

    def holds_other() -> None:
        with coordinator.slot("other"):
            inner.set()
            with coordinator.slot("q"):
                pass

    with coordinator.slot("q"):
        thread = threading.Thread(target=holds_other, daemon=True)
        thread.start()
        assert inner.wait(10)
        desk.until_jobs(1, "waiting")
        with pytest.raises(coord.Refused, match="could never end"):
            coordinator.slot("other").__enter__()
    thread.join(10)
    desk.expect_empty()


# -- configuration


def test_an_unknown_queue_or_lane(desk: Desk) -> None:
    """An unknown name is a ConfigError of `slot` itself, with those that there are."""
    coordinator = desk.coordinator()
    with pytest.raises(coord.ConfigError, match='Did you mean "other"'):
        coordinator.slot("othr")
    with pytest.raises(coord.ConfigError, match='no lane "fast"'):
        coordinator.slot("q", lane="fast")


def test_an_unusable_file_or_url(desk: Desk) -> None:
    """A broken file or a bad scope is a ConfigError of `from_cwd`, a bad URL one of entering; strict or not."""
    with pytest.raises(coord.ConfigError):
        desk.coordinator(scope="a b")
    with pytest.raises(coord.ConfigError, match="not a server URL"), desk.coordinator(redis="http://h").slot("q"):
        pass
    desk.configure(queues={"q": {"slots": 0}})
    with pytest.raises(coord.ConfigError, match=r"queues\.q\.slots"):
        desk.coordinator()


def test_where_the_scope_lives_already(desk: Desk) -> None:
    """Another server than the one on which somebody of the scope lives is `Elsewhere`, which says where."""
    with desk.coordinator().slot("q"), pytest.raises(coord.Elsewhere) as caught:
        in_thread(desk.coordinator(redis=f"redis://127.0.0.1:{free_port()}").slot("q").__enter__)
    assert caught.value.url == desk.url


def test_lanes(desk: Desk) -> None:
    """A slot is taken in the lane it names; `default` when it names none."""
    desk.configure(queues={"q": {"slots": 2, "lanes": {"quick": {"priority": 10, "max": 1}}}})
    coordinator = desk.coordinator()
    with coordinator.slot("q", lane="quick") as quick, taken(coordinator.slot("q")) as plain:
        assert (quick.lane, plain.slot.lane) == ("quick", "default")
        assert {job["lane"] for job in desk.jobs()} == {"quick", "default"}


def test_a_changed_file(desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
    """A coordinator that lives long takes a changed, valid file for its next slot; an invalid one is said once."""
    coordinator = desk.coordinator()
    with coordinator.slot("q"):
        pass
    desk.configure(queues={"q": {"slots": 2}, "new": {"slots": 1}})
    with coordinator.slot("new"), coordinator.slot("q"), taken(coordinator.slot("q", wait=5)):
        assert len(desk.jobs("running")) == 3
    desk.configure(queues={"q": {"slots": 0}})
    for _ in range(2):
        coordinator.slot("new")
    assert len([text for text in caplog.messages if "is not used" in text]) == 1


def test_the_off_switch(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """With OMP_COORD=off every slot is had at once, uncoordinated, whatever file or server there is."""
    monkeypatch.setenv("OMP_COORD", "off")
    desk.configure(queues={"q": {"slots": 0}})
    with desk.coordinator().slot("q", lane="any", wait=0, strict=True) as slot:
        assert (slot.job, slot.fence, slot.coordinated) == ("", 0, False)
        slot.__exit__(None, None, None)
    assert desk.jobs() == []


def test_a_coordinator_that_is_forgotten(desk: Desk) -> None:
    """`Coordinator.from_cwd().slot(…)` again and again leaves neither threads nor connections behind."""

    def connections() -> int:
        return str(desk.ask("CLIENT", "LIST")).count("id=")

    before = connections()
    for _ in range(20):
        with Coordinator.from_cwd(desk.folder).slot("q"):
            pass
    until(lambda: not [t for t in threading.enumerate() if t.name == "omp-coord-beat"], "the threads have ended")
    gc.collect()
    until(lambda: connections() <= before, "the connections are closed")


# -- fences, leaving, exceptions


def test_fences_only_grow(desk: Desk) -> None:
    """Each slot's fence is greater than that of every slot of the queue before it, across coordinators and threads."""
    one, two = desk.coordinator(), desk.coordinator()
    fences = []
    for number in range(30):
        with (one, two)[number % 2].slot("q") as slot:
            fences.append(slot.fence)
    assert fences == sorted(set(fences))


def test_leaving_twice(desk: Desk) -> None:
    """A second leaving does nothing, also not to who has the slot now."""
    coordinator = desk.coordinator()
    slot = coordinator.slot("q")
    with slot:
        slot.__exit__(None, None, None)
        with taken(coordinator.slot("q", wait=5)) as other:
            slot.__exit__(None, None, None)
            assert [job["id"] for job in desk.jobs()] == [other.slot.job]
    desk.expect_empty()


def test_an_exception_gives_the_slot_back(desk: Desk) -> None:
    """An exception inside the `with` passes through; the outcome on the board is `failed`."""
    slot = desk.coordinator().slot("q")
    with pytest.raises(ZeroDivisionError), slot:
        job = slot.job
        raise ZeroDivisionError
    assert desk.outcome(job)["outcome"] == "failed"
    desk.expect_empty()


def test_a_slot_object_is_used_once_at_a_time(desk: Desk) -> None:
    """Entering a slot that is in use, or being waited for, raises and disturbs nothing; afterwards it can be taken again."""
    coordinator = desk.coordinator()
    slot = coordinator.slot("q")
    with slot:
        with pytest.raises(RuntimeError, match="this slot is in use"):
            slot.__enter__()
        waiting = Taker(coordinator.slot("q"))
        desk.until_jobs(1, "waiting")
        with pytest.raises(RuntimeError):
            in_thread(waiting.slot.__enter__)
        assert len(desk.jobs()) == 2
    waiting.wait_had()
    waiting.end()
    with slot:
        assert slot.coordinated
    desk.expect_empty()


# -- threads, nesting


def test_threads_share_a_coordinator(desk: Desk) -> None:
    """Eight threads take 25 slots each of a queue that has two: never more than two have one."""
    coordinator = desk.coordinator()
    lock, now, most = threading.Lock(), 0, 0

    def work() -> None:
        nonlocal now, most
        for _ in range(25):
            with coordinator.slot("two", strict=True):
                with lock:
                    now += 1
                    most = max(most, now)
                with lock:
                    now -= 1

    threads = [threading.Thread(target=work, daemon=True) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    assert 1 <= most <= 2
    assert board_outcomes(desk) == ["ok"] * 200
    desk.expect_empty()


def test_nested_slots_of_one_thread(desk: Desk) -> None:
    """A slot taken inside one of the same queue runs inside it, also by another coordinator of the scope; one of another
    queue is taken as usual; what another thread takes is not inside."""
    coordinator = desk.coordinator()
    with coordinator.slot("q") as outer, coordinator.slot("other") as other:
        with desk.coordinator().slot("q", wait=0) as inner:
            jobs = {job["id"]: job for job in desk.jobs()}
            assert jobs[inner.job]["inside"] == outer.job
            assert jobs[inner.job]["parent"] == other.job
            assert "inside" not in jobs[other.job]
        with pytest.raises(coord.WaitTimeout):
            in_thread(coordinator.slot("q", wait=0).__enter__)
    with coordinator.slot("q") as after:
        assert "parent" not in desk.jobs()[0]
        assert after.coordinated
    desk.expect_empty()


def test_the_slot_stays_taken_until_all_inside_it_have_ended(desk: Desk) -> None:
    """Leaving the outer one first keeps the slot for the inner one."""
    coordinator = desk.coordinator()
    outer, inner = coordinator.slot("q"), coordinator.slot("q")
    with outer:
        with inner:
            outer.__exit__(None, None, None)
            with pytest.raises(coord.WaitTimeout):
                in_thread(coordinator.slot("q", wait=0).__enter__)
        with coordinator.slot("q", wait=0):
            pass
    desk.expect_empty()


def test_inside_a_run_command(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a command of `omp-coord run` the job around it is the parent, for a coordinator of the same scope only."""
    with desk.coordinator().slot("q") as around:
        monkeypatch.setenv("OMP_COORD_JOB", around.job)
        monkeypatch.setenv("OMP_COORD_SCOPE", desk.scope)
        assert in_thread(lambda: took(desk.coordinator(), "q"))
        monkeypatch.setenv("OMP_COORD_SCOPE", "another")
        with pytest.raises(coord.WaitTimeout):
            in_thread(lambda: took(desk.coordinator(), "q"))


def took(coordinator: Coordinator, queue: str) -> bool:
    with coordinator.slot(queue, wait=0) as slot:
        return slot.coordinated


def test_tasks_of_one_thread_are_not_inside_each_other(desk: Desk) -> None:
    """Two asyncio tasks that take slots by `to_thread` each have one; a task begun inside a slot is inside it."""
    coordinator = desk.coordinator()

    async def one(taken: asyncio.Event, go: asyncio.Event) -> None:
        slot = coordinator.slot("q")
        await asyncio.to_thread(slot.__enter__)
        taken.set()
        await go.wait()
        await asyncio.to_thread(slot.__exit__, None, None, None)

    async def both() -> None:
        taken, go = asyncio.Event(), asyncio.Event()
        task = asyncio.create_task(one(taken, go))
        await taken.wait()
        with pytest.raises(coord.WaitTimeout):
            await asyncio.to_thread(took, coordinator, "q")
        go.set()
        await task
        with coordinator.slot("q"):
            assert await asyncio.create_task(asyncio.to_thread(took, coordinator, "q"))

    asyncio.run(both())
    desk.expect_empty()


# -- being told, and beating


def test_somebody_asks_to_end_it(desk: Desk) -> None:
    """`queue cancel --kill` of a slot of a program only tells the program: `kill_asked` says by whom and why."""
    with desk.coordinator().slot("q") as slot:
        board(desk).job_cancel(slot.job, by="ann", reason="too slow", kill=True)
        assert until(lambda: slot.kill_asked, "the program is told") == ("ann", "too slow")
        assert slot.coordinated
    desk.expect_empty()


def test_beats_keep_the_lease(desk: Desk) -> None:
    """A slot held for longer than its lease is renewed again and again by the thread in the background."""
    desk.configure(leaseSeconds=2)
    with desk.coordinator().slot("q") as slot:
        member = f"j|{slot.job}"
        first = float(desk.ask("ZSCORE", desk.keys["LEASES"], member))
        last = until(lambda: later(desk, member, first + 4000), "the lease was renewed for more than 4 s", 15)
        assert last > first
        assert slot.coordinated
    desk.expect_empty()


def later(desk: Desk, member: str, than: float) -> float | None:
    now = float(desk.ask("ZSCORE", desk.keys["LEASES"], member) or 0)
    assert now, "the lease is there all the time"
    return now if now > than else None


def test_without_a_server(desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
    """Without a server a slot is had at once, `coordinated` False and with one warning; with `strict` it is Unavailable."""
    coordinator = desk.coordinator(redis=NOBODY, scope="nobody")
    with caplog.at_level(logging.WARNING, "coord"), coordinator.slot("q") as slot:
        assert (slot.coordinated, slot.fence) == (False, 0)
        assert slot.job
    assert [text for text in caplog.messages if "going on without coordination" in text]
    with pytest.raises(coord.Unavailable), coordinator.slot("q", strict=True):
        pass


def test_a_fault_of_the_board(desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
    """A board with something else under a key keeps no program from its work; the thread that beats for all lives on."""
    coordinator = desk.coordinator()
    desk.ask("SET", desk.keys["JOBS"], "x")
    with coordinator.slot("q") as slot:
        assert not slot.coordinated
    with pytest.raises(coord.BoardFault), coordinator.slot("q", strict=True):
        pass
    desk.ask("DEL", desk.keys["JOBS"])
    with coordinator.slot("q") as slot:
        assert slot.coordinated
        desk.ask("RENAME", desk.keys["JOBS"], desk.keys["JOBS"] + "-")
        desk.ask("SET", desk.keys["JOBS"], "x")
        until(lambda: any("job_" in text for text in caplog.messages[-1:]), "the fault is said")
        desk.ask("DEL", desk.keys["JOBS"])
        desk.ask("RENAME", desk.keys["JOBS"] + "-", desk.keys["JOBS"])
        until(lambda: slot.coordinated, "it is coordinated again")
    desk.expect_empty()


def board(desk: Desk) -> Any:
    from coord.board import Board
    from coord.wire import connect

    return Board(connect(desk.url or ""), desk.scope)


def board_outcomes(desk: Desk) -> list[str]:
    flat = desk.ask("HVALS", desk.keys["ENDED"])
    return [json.loads(how)["outcome"] for how in flat]
