"""coord.Coordinator when something dies: the server, the program, its parent; nothing is lost and nothing stays behind."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator

import pytest

import coord
from coord.config.settings import Settings
from coord.coordinator import Coordinator
from coord.home import Home
from coord.run.job import Job
from coord.server import embedded, pids, record
from coord.wire import connect
from tests.coord.desk import Desk, Taker, in_thread, taken
from tests.servers import Server
from tests.waiting import until

TAKE = """
import sys, threading
from coord import Coordinator
slot = Coordinator.from_cwd().slot(sys.argv[1] if len(sys.argv) > 1 else "q")
"""
HOLD = TAKE + "slot.__enter__()\nprint(slot.job, flush=True)\nsys.stdin.read()\n"


# -- the server goes away


def test_a_server_killed_and_back_while_held(own_desk: Desk, own_server: Server) -> None:
    """The slot is kept: when the server is back, the job stands on the board as it did, with its fence."""
    with own_desk.coordinator().slot("q", strict=True) as slot:
        fence, job = slot.fence, slot.job
        own_server.kill()
        until(lambda: contact_lost(slot), "the loss is noticed")
        own_server.restart()
        until(lambda: not contact_lost(slot), "it is there again", 20)
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
        until(lambda: not contact_lost(holder.slot), "the holder is there again", 20)
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
        own_server.kill()
        until(lambda: contact_lost(slot), "the loss is noticed")
    own_server.restart()
    assert own_desk.jobs("running")
    own_desk.expect_empty()
    assert in_thread(lambda: took(own_desk.coordinator()))


def test_a_wait_given_up_without_a_server(own_desk: Desk, own_server: Server) -> None:
    """A place given up while the server is away is taken off the board as soon as it is there again."""
    with taken(own_desk.coordinator().slot("q")):
        waiter = Taker(own_desk.coordinator().slot("q", wait=1))
        own_desk.until_jobs(1, "waiting")
        until(lambda: synced(own_desk), "the server has it all on disk")
        own_server.kill()
        with pytest.raises(coord.WaitTimeout):
            waiter.end()
        own_server.restart()
        until(lambda: len(own_desk.jobs()) == 1, "only the holder is left", 20)
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
        until(lambda: slot.coordinated, "it has registered", 20)
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
        until(lambda: pids.read(home).get("server", first) != first, "another server runs", 20)
        until(lambda: answers(embedded_desk), "it answers")
        embedded_desk.until_jobs(2)
        assert [job["id"] for job in embedded_desk.until_jobs(1, "running")] == [slot.job]
    waiter.wait_had()
    waiter.end()
    embedded_desk.expect_empty()


def answers(desk: Desk) -> bool:
    try:
        return bool(desk.ask("PING"))
    except coord.Unavailable:
        return False


# -- the program goes away


def test_a_program_that_ends_without_leaving(desk: Desk) -> None:
    """A program that ends with slots held and its coordinator open leaves no trace once somebody asks, and says nothing."""
    program = desk.python(TAKE + "slot.__enter__(); print(slot.coordinated)")
    out, err = program.communicate(timeout=30)
    assert (program.returncode, out, err) == (0, "True\n", "")
    with desk.coordinator().slot("q", wait=5):
        pass
    desk.expect_empty()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_holder(desk: Desk, how: signal.Signals) -> None:
    """Whoever waits sees in the process table that the holder is gone, and has the slot within about two seconds."""
    program = desk.python(HOLD, stdin=-1)
    desk.until_jobs(1, "running")
    waiter = Taker(desk.coordinator().slot("q"))
    desk.until_jobs(1, "waiting")
    program.send_signal(how)
    program.wait(10)
    until(waiter.had.is_set, "the waiter has the slot", 3)
    waiter.end()
    program.communicate()
    desk.expect_empty()


def test_a_killed_waiter(desk: Desk) -> None:
    """A waiter that dies is passed over: the slot goes to the next at once."""
    with taken(desk.coordinator().slot("q")):
        program = desk.python(HOLD, stdin=-1)
        desk.until_jobs(1, "waiting")
        waiter = Taker(desk.coordinator().slot("q"))
        desk.until_jobs(2, "waiting")
        program.kill()
        program.communicate()
    waiter.wait_had()
    waiter.end()
    until(lambda: took(desk.coordinator()) and not desk.left(), "who comes later has taken the dead one off the board")


def took(coordinator: Coordinator) -> bool:
    with coordinator.slot("q", wait=0) as slot:
        return slot.coordinated


def test_ctrl_c_while_waiting(desk: Desk) -> None:
    """INT while waiting raises KeyboardInterrupt and gives up the place; the program may go on and ask again."""
    script = (
        TAKE
        + """
try:
    with slot:
        print("never")
except KeyboardInterrupt:
    print("interrupted", flush=True)
    sys.stdin.read()
with slot:
    print("had", flush=True)
"""
    )
    with taken(desk.coordinator().slot("q")):
        program = desk.python(script, stdin=-1)
        desk.until_jobs(1, "waiting")
        program.send_signal(signal.SIGINT)
        assert program.stdout is not None
        assert program.stdout.readline() == "interrupted\n"
        assert len(desk.jobs()) == 1
    out, err = program.communicate(timeout=30)
    assert (program.returncode, out, err) == (0, "had\n", "")
    desk.expect_empty()


@pytest.mark.parametrize(
    "ending",
    [
        "with slot: pass",
        "with slot: sys.exit(0)",
        "slot.__enter__()",
        "threading.Thread(target=slot.__enter__).start()",
        "slot.__enter__(); import os; os.kill(os.getpid(), 15)",
        "import atexit; slot.__enter__(); atexit.register(slot.__exit__, None, None, None)",
    ],
)
def test_the_end_of_the_interpreter(desk: Desk, ending: str) -> None:
    """However the interpreter ends while the beating thread runs, it says nothing and ends as it should."""
    program = desk.python(TAKE + ending)
    out, err = program.communicate(timeout=30)
    assert (program.returncode, out, err) == (-15 if "15" in ending else 0, "", "")


# -- forks and other processes


@contextlib.contextmanager
def child() -> Iterator[bool]:
    """True in a forked child, which ends with this block; the parent waits for it and expects no error."""
    pid = os.fork()
    if pid:
        yield False
        _, status = os.waitpid(pid, 0)
        assert os.waitstatus_to_exitcode(status) == 0
        return
    code = 1
    try:
        yield True
        code = 0
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        os._exit(code)


def test_a_fork_does_not_inherit_a_slot(desk: Desk) -> None:
    """Neither a child's end nor its leaving the `with` frees the parent's slot, and its connection stays in step."""
    slot = desk.coordinator().slot("q")
    with slot:
        with child() as forked:
            if forked:
                slot.__exit__(None, None, None)
                slot._coordinator.close()
        assert [job["id"] for job in desk.jobs("running")] == [slot.job]
    desk.expect_empty()


def test_a_fork_takes_slots_of_its_own(desk: Desk) -> None:
    """A child may use its parent's coordinator, and the very slot object, for slots of its own."""
    coordinator = desk.coordinator()
    with coordinator.slot("two") as slot:
        with child() as forked:
            if forked:
                with coordinator.slot("two", wait=10, strict=True) as own:
                    assert own.job != slot.job
                    assert len(desk.jobs("running")) == 2
                    assert "inside" not in desk.jobs()[1]
                with slot:
                    assert slot.coordinated
                with pytest.raises(coord.WaitTimeout), coordinator.slot("two"), in_thread(taker(coordinator)):
                    pass
        assert [job["id"] for job in desk.jobs("running")] == [slot.job]
    desk.expect_empty()


def taker(coordinator: Coordinator):  # type: ignore[no-untyped-def]
    return coordinator.slot("two", wait=0).__enter__


def test_a_fork_while_the_lock_is_held(desk: Desk) -> None:
    """A fork at any moment, also while another thread is inside the coordinator, leaves the child free to go on."""
    coordinator = desk.coordinator()
    with coordinator.slot("two") as slot, coordinator._lock, slot._lock, child() as forked:
        if forked:
            with coordinator.slot("two", wait=10) as own:
                assert own.coordinated
    desk.expect_empty()


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_multiprocessing(desk: Desk, method: str) -> None:
    """Four workers of `multiprocessing` through one slot: each gets it in its turn, never two at once."""
    script = f"""
import multiprocessing, os, sys

def work(number):
    from coord import Coordinator
    with Coordinator.from_cwd().slot("q", strict=True) as slot:
        fd = os.open("marks", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        for mark in "+-":
            os.write(fd, mark.encode())
    return slot.coordinated

if __name__ == "__main__":
    with multiprocessing.get_context({method!r}).Pool(4) as pool:
        pool.map(work, range(12), chunksize=1)
    print(open("marks").read())
"""
    path = f"{desk.folder}/program.py"
    with open(path, "w", encoding="utf-8") as file:
        file.write(script)
    program = desk.python("import runpy; runpy.run_path('program.py', run_name='__main__')" if method == "fork" else
                          "import subprocess, sys; sys.exit(subprocess.call([sys.executable, 'program.py']))")  # fmt: skip
    out, err = program.communicate(timeout=60)
    assert (program.returncode, err) == (0, "")
    assert out.strip() == "+-" * 12
    desk.expect_empty()


def test_a_shared_coordinator_in_a_pool_of_forks(desk: Desk) -> None:
    """A coordinator made before the forks is used by each of them on its own."""
    coordinator = desk.coordinator()
    with coordinator.slot("q"):
        pass
    done = threading.Event()
    with child() as forked:
        if forked:
            for _ in range(5):
                with coordinator.slot("q", strict=True, wait=20):
                    pass
        else:
            for _ in range(5):
                with coordinator.slot("q", strict=True, wait=20):
                    pass
            done.set()
    assert done.is_set()
    desk.expect_empty()
