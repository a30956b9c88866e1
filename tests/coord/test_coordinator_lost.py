"""coord.Coordinator when its server dies, hangs or moves: nothing is lost and nothing stays behind."""

from __future__ import annotations

import contextlib
import os
import signal

import pytest

import coord
from coord.board import Board
from coord.config.settings import Settings
from coord.coordinator import Coordinator
from coord.home import Home
from coord.run.job import Job
from coord.server import embedded, pids, record
from coord.wire import ServerError, connect
from tests.coord.desk import ENOUGH_S, Desk, Taker, in_thread, taken, took
from tests.servers import Server
from tests.waiting import until


def test_a_server_killed_and_back_while_held(own_desk: Desk, own_server: Server) -> None:
    """The slot is kept: when the server is back, the job stands on the board as it did, with its fence."""
    with own_desk.coordinator().slot("q", strict=True) as slot:
        fence, job = slot.fence, slot.job
        own_server.kill()
        until(lambda: contact_lost(slot), "the loss is noticed")
        own_server.restart()
        until(lambda: not contact_lost(slot), "it is there again", ENOUGH_S)
        assert [(found["id"], found["state"]) for found in own_desk.jobs()] == [(job, "running")]
        assert (slot.fence, slot.coordinated) == (fence, True)
        with pytest.raises(coord.WaitTimeout):
            in_thread(own_desk.coordinator().slot("q", wait=0).__enter__)
    own_desk.expect_empty()


def contact_lost(slot: coord.Slot) -> bool:
    assert slot._job is not None
    return slot._job.contact.board is None or slot._job.contact.lost_at is not None


def test_a_flushed_server(own_desk: Desk) -> None:
    """After FLUSHALL who holds and who waits come back as what they were, and the slot is handed on as ever."""
    coordinator = own_desk.coordinator()
    with coordinator.slot("q") as slot:
        waiter = Taker(coordinator.slot("q"))
        (waiting,) = own_desk.until_jobs(1, "waiting")
        own_desk.ask("FLUSHALL")
        until(lambda: len(own_desk.jobs()) == 2, "both are on the board again")
        held, back = own_desk.jobs()
        assert (held["id"], held["state"], int(held["fence"])) == (slot.job, "running", slot.fence)
        assert (back["id"], back["state"], back["ticket"]) == (waiting["id"], "waiting", waiting["ticket"])
    waiter.wait_had()
    assert waiter.fence > 0
    waiter.end()
    own_desk.expect_empty()


def test_a_server_killed_and_back_while_waiting(own_desk: Desk, own_server: Server) -> None:
    """The wait goes on, at the same place; the slot comes when it is free."""
    with taken(own_desk.coordinator().slot("q")) as holder:
        waiter = Taker(own_desk.coordinator().slot("q", strict=True))
        (before,) = own_desk.until_jobs(1, "waiting")
        until(lambda: synced(own_desk), "the server has it all on disk")
        own_server.kill()
        until(lambda: contact_lost(holder.slot), "the loss is noticed")
        own_server.restart()
        until(lambda: not contact_lost(holder.slot), "the holder is there again", ENOUGH_S)
        (after,) = own_desk.until_jobs(1, "waiting", "away")
        assert (after["id"], after["ticket"]) == (before["id"], before["ticket"])
        assert not waiter.had.is_set()
    waiter.wait_had()
    waiter.end()
    own_desk.expect_empty()


def synced(desk: Desk) -> bool:
    return "aof_pending_bio_fsync:0" in desk.ask("INFO", "persistence")


def test_a_slot_given_back_without_a_server(own_desk: Desk, own_server: Server) -> None:
    """A slot whose `with` ends while the server is away is given back as soon as it is there again, though the program
    lives on: nobody else can tell that it is free."""
    coordinator = own_desk.coordinator()
    with coordinator.slot("q") as slot:
        until(lambda: synced(own_desk), "the server has it all on disk")
        job = slot.job
        own_server.kill()
        until(lambda: contact_lost(slot), "the loss is noticed")
    own_server.restart()
    own_desk.expect_empty()
    assert own_desk.outcome(job)["how"] == "finished"  # given back by the program, after the restart
    assert in_thread(lambda: took(own_desk.coordinator()))


def test_a_wait_given_up_without_a_server(own_desk: Desk, own_server: Server) -> None:
    """A place given up while the server is away is taken off the board as soon as it is there again."""
    with taken(own_desk.coordinator().slot("q")):
        waiter = Taker(own_desk.coordinator().slot("q", wait=4))
        own_desk.until_jobs(1, "waiting")
        until(lambda: synced(own_desk), "the server has it all on disk")
        own_server.kill()
        with pytest.raises(coord.WaitTimeout):
            waiter.end()
        own_server.restart()
        until(lambda: len(own_desk.jobs()) == 1, "only the holder is left", ENOUGH_S)
    own_desk.expect_empty()


def test_an_answer_that_never_came(own_desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that is interrupted while the board gives it the slot, and lives on, does not keep it."""
    coordinator = own_desk.coordinator()
    real = Job._take

    def interrupted(job: Job, answer: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Job, "_take", interrupted)
    with pytest.raises(KeyboardInterrupt):
        coordinator.slot("q").__enter__()
    monkeypatch.setattr(Job, "_take", real)
    own_desk.expect_empty()
    with coordinator.slot("q", wait=0) as slot:
        assert slot.coordinated


def test_a_connection_that_died_while_idle(own_desk: Desk, own_server: Server) -> None:
    """Between two slots the server may be restarted, or the connection closed: the next slot is had as ever."""
    coordinator = own_desk.coordinator()
    with coordinator.slot("q"):
        pass
    own_server.kill()
    own_server.restart()
    with coordinator.slot("q", strict=True) as slot:
        assert slot.coordinated
    own_desk.ask("CLIENT", "KILL", "TYPE", "normal")
    own_desk.ask("CLIENT", "KILL", "TYPE", "pubsub")
    with coordinator.slot("q", strict=True) as slot:
        assert slot.coordinated


def test_a_scope_that_moved_while_idle(folder: str, own_server: Server, one_server: Server) -> None:
    """While nobody of the scope lived on its server, another participant moved it: the next slot is taken there."""
    home = Home.find({"OMP_COORD_HOME": folder + "/home"})
    settings = Settings(None, f"moves-{os.getpid()}")
    for server in (own_server, one_server):
        Board(connect(server.url), settings.scope, fresh=True).board_sweep()
    record.write(home, settings.scope, own_server.url, False)
    with Coordinator(settings, home) as coordinator:
        with coordinator.slot("q"):
            assert jobs_on(own_server, settings.scope) == 1
        record.write(home, settings.scope, one_server.url, False)
        with coordinator.slot("q"):
            assert (jobs_on(own_server, settings.scope), jobs_on(one_server, settings.scope)) == (0, 1)


def jobs_on(server: Server, scope: str) -> int:
    with contextlib.closing(connect(server.url)) as link:
        return int(str(link.call("HLEN", f"coord:{{{scope}}}:jobs")))


def test_a_server_that_comes_later(own_desk: Desk, own_server: Server) -> None:
    """A slot that was had without a server registers itself when there is one, and counts."""
    own_server.kill()
    with own_desk.coordinator().slot("q") as slot:
        assert not slot.coordinated
        own_server.restart()
        until(lambda: slot.coordinated, "it has registered", ENOUGH_S)
        assert [job["id"] for job in own_desk.jobs("running")] == [slot.job]
        with pytest.raises(coord.WaitTimeout):
            in_thread(own_desk.coordinator().slot("q", wait=0).__enter__)
    own_desk.expect_empty()


def test_the_embedded_server_is_started_again(embedded_desk: Desk) -> None:
    """Killed while a slot is held and one is waited for, the embedded server is started by the next beat; all go on."""
    coordinator = embedded_desk.coordinator()
    home = coordinator.home
    with coordinator.slot("q") as slot:
        embedded_desk.url = embedded.url(home)
        waiter = Taker(coordinator.slot("q"))
        embedded_desk.until_jobs(1, "waiting")
        first = pids.read(home)["server"]
        os.kill(first, signal.SIGKILL)
        until(lambda: pids.read(home).get("server", first) != first, "another server runs", ENOUGH_S)
        until(lambda: answers(embedded_desk), "it answers")
        embedded_desk.until_jobs(2)
        assert [job["id"] for job in embedded_desk.until_jobs(1, "running")] == [slot.job]
    waiter.wait_had()
    waiter.end()
    embedded_desk.expect_empty()


def answers(desk: Desk) -> bool:
    try:
        return bool(desk.ask("PING"))
    except (coord.Unavailable, ServerError):
        return False  # it is not there, or loads its data


def test_a_fault_of_ours_does_not_end_the_beats(
    own_desk: Desk, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The thread that beats for all slots goes on, and the log tells what happened."""
    real, faults = Job.pump, iter(["once"])

    def pump(job: Job) -> float:
        for fault in faults:
            raise ZeroDivisionError(fault)
        return real(job)

    with own_desk.coordinator().slot("q") as slot:
        monkeypatch.setattr(Job, "pump", pump)
        until(lambda: "ZeroDivisionError: once" in caplog.text, "the fault is told")
        lease = ("ZSCORE", own_desk.keys["LEASES"], f"j|{slot.job}")
        before = own_desk.ask(*lease)
        until(lambda: own_desk.ask(*lease) > before, "the lease is renewed")
