"""coord.Coordinator when programs end, are killed, are interrupted or fork."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator

import pytest

import coord
from coord.coordinator import Coordinator
from tests.coord.desk import ENOUGH_S, Desk, Taker, in_thread, taken, took
from tests.waiting import until

TAKE = """
import sys, threading
from coord import Coordinator
slot = Coordinator.from_cwd().slot(sys.argv[1] if len(sys.argv) > 1 else "q")
"""
HOLD = TAKE + "slot.__enter__()\nprint(slot.job, flush=True)\nsys.stdin.read()\n"


def test_a_program_that_ends_without_leaving(desk: Desk) -> None:
    """A program that ends with slots held and its coordinator open leaves no trace once somebody asks, and says nothing."""
    program = desk.python(TAKE + "slot.__enter__(); print(slot.coordinated)")
    out, err = program.communicate(timeout=ENOUGH_S)
    assert (program.returncode, out, err) == (0, "True\n", "")
    with desk.coordinator().slot("q", wait=30):
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
    program.wait(ENOUGH_S)
    until(waiter.had.is_set, "the waiter has the slot", 6)  # long before the lease of 10 s is over
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
    out, err = program.communicate(timeout=ENOUGH_S)
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
    out, err = program.communicate(timeout=ENOUGH_S)
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
                with coordinator.slot("two", wait=30, strict=True) as own:
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
            with coordinator.slot("two", wait=30) as own:
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
    out, err = program.communicate(timeout=ENOUGH_S)
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
                with coordinator.slot("q", strict=True, wait=60):
                    pass
        else:
            for _ in range(5):
                with coordinator.slot("q", strict=True, wait=60):
                    pass
            done.set()
    assert done.is_set()
    desk.expect_empty()
