"""All processes of a job: who they are, how they are ended, what is left of them when the command has ended.

`Ending` and `Lasting` never wait; the runner's loop drives them: `tick(now)` does what is due and says in how
many seconds to call again, or None when nothing more is to be done; call it early when a child has changed.
"""

from __future__ import annotations

import os
import time

from coord.run import processes
from coord.run.processes import REFUSED, Proc
from coord.run.signals import SIGCONT, SIGKILL, SIGTERM

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection

GRACE = 10.0
"""Seconds between TERM and KILL."""
PATIENCE = 5.0
"""Seconds after the last KILL that a process may take to go before it is given up as unkillable."""
LOOK = 0.25
_SHORT_LOOK = 0.01


def _nobody() -> Collection[int]:
    return ()


class Tree:
    """The descendants of `root` (the runner, which itself is never one of them), without the processes that
    `exclude` names (the embedded server and its guard) and their children."""

    __slots__ = ("_exclude", "_known", "root")

    def __init__(self, root: int | None = None, exclude: Callable[[], Collection[int]] = _nobody) -> None:
        self.root = os.getpid() if root is None else root
        self._exclude = exclude
        # Without a subreaper an orphan leaves the tree; once seen, it stays ours.
        self._known: dict[int, str] = {}

    def alive(self) -> list[Proc]:
        """Living descendants, parents before their children."""
        if not self._known and self.root == os.getpid() and _childless():
            return []
        seen = processes.table()
        self._known = {pid: start for pid, start in self._known.items() if pid in seen and seen[pid].start == start}
        found = [proc for proc in self._walk(seen) if proc.alive]
        for proc in found:
            self._known[proc.pid] = proc.start
        return found

    def _walk(self, seen: dict[int, Proc]) -> list[Proc]:
        children: dict[int, list[Proc]] = {}
        for proc in seen.values():
            children.setdefault(proc.ppid, []).append(proc)
        done = {self.root, *self._exclude()}
        line = children.get(self.root, []) + [seen[pid] for pid in self._known]
        for proc in line:  # grows while it is walked
            if proc.pid not in done:
                line += children.get(proc.pid, ())
        found = []
        for proc in line:
            if proc.pid not in done:
                done.add(proc.pid)
                found.append(proc)
        return found


def descendants(root: int, exclude: Callable[[], Collection[int]] = _nobody) -> list[Proc]:
    """Living descendants of `root` now, parents first."""
    return Tree(root, exclude).alive()


def leftovers(tree: Tree) -> list[Proc]:
    """What lives on after the command has ended and `Child.poll` has reaped it. Free when there is no child.

    Processes that are just ending (the other half of a pipe) get a few hundredths of a second to go.
    """
    found = tree.alive()
    for _ in range(5):
        if not found:
            break
        time.sleep(_SHORT_LOOK)  # those that are no children of ours give no event when they end
        _reap()
        found = tree.alive()
    return found


def find_by_job(job: str) -> list[Proc]:
    """Living processes of this user that belong to a job by their environment, for a runner that is gone.

    Processes of a nested job carry that job's id; its runner carries this one.
    """
    return processes.of_job(job)


class Ending:
    """Ends all that `find` finds: TERM (CONT to stopped ones), after `grace` seconds KILL until all are gone.

    `find` lists parents first, so that a shell ends before it can start its next command. What was started
    since the TERM (somebody tidying up) is left in peace until the KILL. `left` are those that could not be
    ended: another user's, or stuck in the kernel.
    """

    __slots__ = ("_find", "_grace", "_kill_at", "_marked", "_patient_until", "_refused", "done", "left")

    def __init__(self, find: Callable[[], list[Proc]], grace: float = GRACE) -> None:
        self._find = find
        self._grace = grace
        self._kill_at: float | None = None
        self._patient_until = 0.0
        self._marked: set[tuple[int, str]] = set()
        self._refused: set[tuple[int, str]] = set()
        self.done = False
        self.left: list[Proc] = []

    def tick(self, now: float) -> float | None:
        """Do what is due at `now` (monotonic seconds)."""
        if self.done:
            return None
        if self._kill_at is None:
            self._kill_at = now + self._grace
            self._terminate()
        if now >= self._kill_at:
            return self._kill(now)
        alive = self._find()
        if not alive:
            self.done = True
            return None
        _continue(alive)
        return min(LOOK, self._kill_at - now)

    def hurry(self) -> None:
        """No more grace: the next `tick` sends KILL."""
        self._grace = 0.0
        if self._kill_at is not None:
            self._kill_at = 0.0

    def _terminate(self) -> None:
        found = self._find()
        newest = processes.newest_pid()
        _terminate(found)
        # Who forked while the table was read left a child that has no TERM yet. Pids only grow (but for a
        # wrap), so it is told from one that was started because of the TERM, to tidy up.
        told = {proc.pid for proc in found}
        _terminate([proc for proc in self._find() if proc.pid not in told and proc.pid <= newest])

    def _kill(self, now: float) -> float | None:
        self.left = self._kill_all_new(now)
        waited_for = [proc for proc in self.left if proc.key not in self._refused]
        if waited_for and now < self._patient_until:
            return _SHORT_LOOK
        self.done = True
        return None

    def _kill_all_new(self, now: float) -> list[Proc]:
        """KILL until a look finds nobody new, so that a process that keeps forking does not get away."""
        alive: list[Proc] = []
        for _ in range(50):
            alive = self._find()
            fresh = [proc for proc in alive if proc.key not in self._marked]
            if not fresh:
                break
            self._patient_until = now + PATIENCE
            for proc in fresh:
                self._marked.add(proc.key)
                if processes.send(proc, SIGKILL) == REFUSED:
                    self._refused.add(proc.key)
        return alive


class Lasting:
    """Waits until all that `find` finds have ended by themselves. `left` are those of the last look."""

    __slots__ = ("_find", "done", "left")

    def __init__(self, find: Callable[[], list[Proc]]) -> None:
        self._find = find
        self.done = False
        self.left: list[Proc] = []

    def tick(self, now: float) -> float | None:
        """Look; again in a second at the latest."""
        self.left = self._find()
        self.done = not self.left
        return None if self.done else 1.0


def after(policy: str, tree: Tree, grace: float = GRACE) -> Ending | Lasting | None:
    """What a queue's `leftovers` asks for: `kill` ends them, `wait` waits for them, `keep` is None."""
    if policy == "kill":
        return Ending(tree.alive, grace)
    if policy == "wait":
        return Lasting(tree.alive)
    return None


def _terminate(procs: list[Proc]) -> None:
    for proc in procs:
        processes.send(proc, SIGTERM)
    _continue(procs)


def _continue(procs: list[Proc]) -> None:
    """A stopped process does not die of TERM, nor run its trap, before it is continued."""
    for proc in procs:
        if proc.state == "T":
            processes.send(proc, SIGCONT)


def _childless() -> bool:
    """No children at all, so no table need be read; takes no child's status."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WSTOPPED | os.WCONTINUED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return True
    except AttributeError:
        return False
    return False


def _reap() -> None:
    """Adopted orphans that ended meanwhile; without this they would stay zombies until the runner ends."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return
