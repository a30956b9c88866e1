"""coord.Slot: fences, leaving, threads, nesting, and what a slot is told while it is held."""

from __future__ import annotations

import asyncio
import json
import logging
import threading

import pytest

import coord
from tests.coord.desk import Desk, Taker, in_thread, taken, took
from tests.waiting import until

NOBODY = "redis://127.0.0.1:1"


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
        with taken(coordinator.slot("q", wait=30)) as other:
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
        thread.join(180)
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
        desk.board().job_cancel(slot.job, by="ann", reason="too slow", kill=True)
        assert until(lambda: slot.kill_asked, "the program is told") == ("ann", "too slow")
        assert slot.coordinated
    desk.expect_empty()


def test_beats_keep_the_lease(desk: Desk) -> None:
    """A slot held for longer than its lease is renewed again and again by the thread in the background."""
    desk.configure(leaseSeconds=2)
    with desk.coordinator().slot("q") as slot:
        member = f"j|{slot.job}"
        first = float(desk.ask("ZSCORE", desk.keys["LEASES"], member))
        last = until(lambda: later(desk, member, first + 4000), "the lease was renewed for more than 4 s")
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


def board_outcomes(desk: Desk) -> list[str]:
    flat = desk.ask("HVALS", desk.keys["ENDED"])
    return [json.loads(how)["outcome"] for how in flat]
