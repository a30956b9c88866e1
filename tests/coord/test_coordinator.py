"""coord.Coordinator: what the page on queues says of the Python side, word by word."""

from __future__ import annotations

import gc
import math
import threading
import time

import pytest

import coord
from coord.coordinator import Coordinator
from tests.coord.desk import ENOUGH_S, Desk, Taker, in_thread, taken
from tests.servers import free_port
from tests.waiting import Awake, until

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
        with (
            Awake() as clock,
            pytest.raises(coord.WaitTimeout, match=r"no slot of q is free \(held by the other"),
        ):
            coordinator.slot("q", wait=0).__enter__()
        assert clock.seconds < 1.5  # not a beat
        assert len(desk.jobs()) == 1
    with coordinator.slot("q", wait=0) as slot:
        assert slot.coordinated


def test_wait_some_seconds(desk: Desk) -> None:
    """With a number the place in line is given up after that time, and WaitTimeout says so."""
    coordinator = desk.coordinator()
    with taken(coordinator.slot("q")):
        began = time.monotonic()
        with (
            Awake() as clock,
            pytest.raises(coord.WaitTimeout, match=r"no slot of q within 0\.2 s \(held by python\)"),
        ):
            coordinator.slot("q", wait=0.2).__enter__()
        assert time.monotonic() - began >= 0.2
        assert clock.seconds < 1.5  # not a beat
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
        desk.board().job_cancel(job["id"], by="ann\x1b", reason="lunch")
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
        assert inner.wait(ENOUGH_S)
        desk.until_jobs(1, "waiting")
        with pytest.raises(coord.Refused, match="could never end"):
            coordinator.slot("other").__enter__()
    thread.join(ENOUGH_S)
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
    with coordinator.slot("new"), coordinator.slot("q"), taken(coordinator.slot("q", wait=30)):
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
