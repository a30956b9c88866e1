"""Random histories on a real board and on the reference model, side by side, on every kind of server.

`OMP_COORD_STEPS` sets how many steps each kind makes (default 2,000), `OMP_COORD_SEED` repeats a run; the seed of this
run stands in the failure's notes.
"""

from __future__ import annotations

import itertools
import os
import random
from collections.abc import Callable, Iterator
from typing import Any

import hypothesis
import pytest
from hypothesis import HealthCheck, Verbosity, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from tests.model.rules import WAITS
from tests.model.world import Runner, World
from tests.servers import KINDS, Server, short_folder

STEPS = int(os.environ.get("OMP_COORD_STEPS", "2000"))
PER_EXAMPLE = 50
SEED = int(os.environ.get("OMP_COORD_SEED") or random.SystemRandom().getrandbits(32))

_scopes = itertools.count()
_any = st.integers(0, 999)
_rarely = st.sampled_from((False,) * 7 + (True,))
_machines = st.sampled_from(("m1", "m1", "m1", "m2"))
_lanes = st.fixed_dictionaries(
    {"priority": st.integers(-1, 2), "reserved": st.integers(0, 1)}, optional={"max": st.integers(1, 2)}
)
_caps = st.lists(st.tuples(st.sampled_from((2, 4)), st.integers(0, 2)).map(list), min_size=1, max_size=2)
_queues = st.fixed_dictionaries(
    {
        "slots": st.integers(1, 3),
        "order": st.sampled_from(("fifo", "fair-share")),
        "lanes": st.dictionaries(st.sampled_from(("a", "b")), _lanes, min_size=1),
    },
    optional={"timeLimitMs": st.sampled_from((60000, 90000)), "loadCaps": _caps},
)
_files = st.fixed_dictionaries(
    {"source": st.just("test"), "queues": st.dictionaries(st.sampled_from(("q", "r")), _queues, min_size=1)},
    optional={"leaseMs": st.sampled_from((2000, 6000, 20000))},
)
_no_file = st.just({"source": "", "fallback": True, "queues": {"q": {"slots": 1}, "s": {"slots": 1}}})
_policies = st.tuples(_files, _files, _no_file, _files).map(lambda all_: {f"p{i}": one for i, one in enumerate(all_)})


class Machine(RuleBasedStateMachine):
    """One example: a board of its own, some policies, and runners that come, wait, run, stop, die and forget."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self.url = url
        self.world: World | None = None

    @initialize(policies=_policies, fresh=st.booleans())
    def a_board(self, policies: dict[str, Any], fresh: bool) -> None:
        self.world = World(self.url, f"m{next(_scopes)}", policies, fresh)
        self.saved: Any = None
        self.calm = 0

    @property
    def w(self) -> World:
        assert self.world is not None
        return self.world

    def teardown(self) -> None:
        if self.world is not None:
            self.world.close()

    # --- who

    def some(self, pick: int, fits: Callable[[Runner], bool]) -> Runner | None:
        """One of the runners that fit, the newest for 0."""
        found = [runner for runner in reversed(self.w.runners) if fits(runner)]
        return found[pick % len(found)] if found else None

    def living(self, pick: int, *phases: str) -> Runner | None:
        return self.some(pick, lambda runner: runner.alive and (not phases or runner.phase in phases))

    def any_in(self, *phases: str) -> bool:
        return self.living(0, *phases) is not None

    # --- runners

    @rule(pick=_any, owner=st.sampled_from("xyz"), machine=_machines, wait=st.sampled_from((True, True, True, False)),
          limit=st.sampled_from((None, None, 5000)), deaf=_rarely, lost=_rarely, times=st.integers(1, 2))  # fmt: skip
    def comes(
        self, pick: int, owner: str, machine: str, wait: bool, limit: int | None, deaf: bool, lost: bool, times: int
    ) -> None:
        """A runner asks for a slot; its answer may be lost, and it asks again."""
        self._comes(pick, owner, machine, None, wait, limit, deaf, lost)
        for _ in range(times - 1):
            self._comes(pick, owner, machine, None, wait, limit, deaf, lost)

    @precondition(lambda self: self.any_in("running"))
    @rule(pick=_any, above=_any, wait=st.booleans(), deaf=_rarely, lost=_rarely)
    def comes_from_a_job(self, pick: int, above: int, wait: bool, deaf: bool, lost: bool) -> None:
        """A running job's command asks for a slot itself."""
        parent = self.living(above, "running")
        if parent:
            self._comes(pick, parent.owner, parent.machine, parent.id, wait, None, deaf, lost)

    def _comes(
        self,
        pick: int,
        owner: str,
        machine: str,
        parent: str | None,
        wait: bool,
        limit: int | None,
        deaf: bool,
        lost: bool,
    ) -> None:
        w = self.w
        self.calm += 1
        places = [
            (policy, queue, lane)
            for policy, said in w.policies.items()
            for queue, terms in sorted(said["queues"].items())
            for lane in ("default", *sorted(terms.get("lanes", {})))
        ]
        policy, queue, lane = places[pick % len(places)]
        number = next(w.ids)
        id = f"{'zyxwvutsrq'[number % 10]}{number}"
        runner = Runner(id, machine, 1000 + number, queue, lane, owner, policy, parent, wait, limit)
        w.runners.append(runner)
        w.listen(id, not deaf)
        w.enqueue(runner, lost)

    @precondition(lambda self: self.any_in())
    @rule(pick=_any)
    def asks_again(self, pick: int) -> None:
        """An enqueue is repeated: the present state is answered, and nothing is changed twice."""
        runner = self.some(pick, lambda runner: runner.alive)
        if runner:
            self.w.enqueue(runner)

    @precondition(lambda self: self.any_in("asks", "waiting", "running", "stopped"))
    @rule(pick=_any, change=_rarely, to=_any, lost=_rarely)
    def beats(self, pick: int, change: bool, to: int, lost: bool) -> None:
        runner = self.living(pick, "asks", "waiting", "running", "stopped")
        if runner:
            policies = list(self.w.policies)
            self._known(runner, self.w.beat(runner, policies[to % len(policies)] if change else "", lost=lost).verdict)

    @precondition(lambda self: self.any_in("waiting", "running"))
    @rule()
    def all_beat(self) -> None:
        for runner in list(self.w.runners):
            if runner.alive and runner.phase in ("waiting", "running"):
                self._known(runner, self.w.beat(runner).verdict)

    def _known(self, runner: Runner, verdict: str) -> None:
        """A runner that the board does not know registers itself again with what it has."""
        if verdict == "unknown" and runner.phase in ("waiting", "running", "stopped"):
            self.w.register(runner)

    @precondition(lambda self: any(job.state == "granted" for job in self.w.model.jobs.values()))
    @rule(pick=_any, lost=_rarely)
    def confirms(self, pick: int, lost: bool) -> None:
        """A granted waiter confirms with the fence that it was told of."""
        granted = [id for id, job in self.w.model.jobs.items() if job.state == "granted"]
        runner = self.some(pick, lambda runner: runner.alive and runner.id in granted)
        if runner:
            self.w.start(runner, self.w.model.jobs[runner.id].fence, lost=lost)

    @precondition(lambda self: self.any_in())
    @rule(pick=_any)
    def confirms_late_or_wrongly(self, pick: int) -> None:
        """Whoever knows a fence confirms it once more, or too late."""
        runner = self.living(pick, "waiting", "running", "done")
        if runner:
            self.w.start(runner, (runner.stale or [runner.fence])[-1])

    @precondition(lambda self: self.any_in("running"))
    @rule(pick=_any, lost=_rarely)
    def finishes(self, pick: int, lost: bool) -> None:
        runner = self.living(pick, "running")
        if runner:
            verdict = self.w.finish(runner, runner.fence, lost=lost).verdict
            if lost:
                self.w.finish(runner, runner.fence)
            elif verdict in ("unknown", "expired", "notYours"):
                runner.phase = "done"

    @precondition(lambda self: self.any_in())
    @rule(pick=_any, how=st.sampled_from(("again", "stale", "foreign")))
    def finishes_wrongly(self, pick: int, how: str) -> None:
        """A second, stale or foreign end changes nothing."""
        runner = self.some(pick, lambda runner: runner.fence is not None or how == "foreign")
        if runner:
            fence = (runner.fence or 1) - 1 if how == "stale" else runner.fence
            if how != "again" or runner.phase == "done":
                self.w.finish(runner, fence, instance="other" if how == "foreign" else None)

    @precondition(lambda self: self.any_in())
    @rule(pick=_any)
    def beats_wrongly(self, pick: int) -> None:
        runner = self.some(pick, lambda runner: True)
        if runner:
            self.w.beat(runner, instance="other", lost=True)

    @precondition(lambda self: self.any_in("running", "stopped"))
    @rule(pick=_any)
    def stops_or_goes_on(self, pick: int) -> None:
        runner = self.living(pick, "running", "stopped")
        if runner:
            runner.phase = "stopped" if runner.phase == "running" else "running"
            self._known(runner, self.w.beat(runner).verdict)

    @precondition(lambda self: self.any_in("waiting", "running"))
    @rule(pick=_any, how=st.sampled_from(("own", "other", "kill")), machine=_machines)
    def is_cancelled(self, pick: int, how: str, machine: str) -> None:
        runner = self.some(pick, lambda runner: runner.alive and runner.phase != "done")
        if runner:
            self.w.cancel(runner, machine, own=how == "own", kill=how == "kill")

    @precondition(lambda self: self.any_in("waiting", "running", "stopped"))
    @rule(pick=_any)
    def registers(self, pick: int) -> None:
        """After a reconnect a runner registers what it has, whether the board knows it or not."""
        runner = self.living(pick, "waiting", "running", "stopped")
        if runner:
            self.w.register(runner)

    @precondition(lambda self: self.any_in("waiting"))
    @rule(pick=_any)
    def listens_or_not(self, pick: int) -> None:
        runner = self.living(pick, "asks", "waiting")
        if runner:
            self.w.listen(runner.id, runner.id not in self.w.model.listening)

    # --- deaths

    @precondition(lambda self: self.any_in("waiting", "running"))
    @rule(pick=_any)
    def dies(self, pick: int) -> None:
        runner = self.living(pick, "asks", "waiting", "running", "stopped")
        if runner:
            runner.alive = False
            self.w.listen(runner.id, on=False)

    @precondition(lambda self: self.any_in("waiting", "running"))
    @rule(pick=_any, count=st.integers(1, 3), lie=_rarely, wrong=st.sampled_from(("", "", "", "pid", "start", "instance")),
          how=st.sampled_from(("true", "true", "orphaned")), machine=_machines)  # fmt: skip
    def is_looked_at(self, pick: int, count: int, lie: bool, wrong: str, how: str, machine: str) -> None:
        """Somebody vouches, with its next call, for what it saw in the process table."""
        seen = []
        for i in range(count):
            runner = self.some(pick + i, lambda runner: runner.id in self.w.model.jobs)
            if runner:
                truth = "live" if runner.alive != lie else "gone"
                one = runner.seen("orphaned" if how == "orphaned" and not runner.alive else truth)
                seen.append({**one, wrong: {"pid": 1, "start": "0", "instance": "?"}[wrong]} if wrong else one)
        if seen:
            self.w.vouches[machine] = seen

    @rule(machine=_machines)
    def sweeps(self, machine: str) -> None:
        self.w.sweep(machine)

    # --- time, load, accidents

    @rule(ms=st.one_of(st.integers(1, 1500), st.integers(1500, 5500), st.integers(5000, 16000)))
    def time_goes_on(self, ms: int) -> None:
        self.w.clock.step(ms)

    @rule(ms=st.one_of(st.integers(1, 1000), st.integers(1001, 5000), st.just(100_000)))
    def the_clock_is_set_back(self, ms: int) -> None:
        self.w.clock.step(-ms)

    @rule(machine=_machines, load=st.sampled_from((0.5, 1, 2.5, 3, 5)))
    def the_load_changes(self, machine: str, load: float) -> None:
        self.w.boards[machine]._common["load"] = load

    @precondition(lambda self: self.calm > 6)
    @rule(
        what=st.sampled_from(("sleep", "flush", "save")), ms=st.sampled_from((60_000, 1_000_000, 3_600_000, 30_000_000))
    )
    def something_happens(self, what: str, ms: int) -> None:
        """Everything sleeps for a while, somebody flushes the server, or the server writes its disk."""
        self.calm = 0
        if what == "sleep":
            self.w.clock.step(ms)
        elif what == "flush":
            self.w.flush()
        else:
            self.saved = self.w.save()

    @precondition(lambda self: self.saved is not None)
    @rule()
    def the_server_loses_what_was_not_written(self) -> None:
        """Killed and back with what was on its disk; everybody living registers what it really has."""
        self.w.load(self.saved)
        self.saved = None
        self.w.clock.step(1001)
        for runner in list(self.w.runners):
            if runner.alive and runner.phase in ("waiting", "running", "stopped"):
                self.w.register(runner)

    @precondition(lambda self: self.calm > 12)
    @rule()
    def everybody_goes_home(self) -> None:
        """Whoever lives gets its turn in the end, and an empty board is left."""
        w = self.w
        self.calm = 0
        w.clock.step(4000)
        for runner in w.runners:
            w.listen(runner.id, runner.alive and runner.id in w.model.jobs)
        w.vouches["m1"] = [
            runner.seen("gone") for runner in w.runners if not runner.alive and runner.id in w.model.jobs
        ]
        for machine, board in w.boards.items():
            board._common["load"] = 0
            w.sweep(machine)
        for _ in range(2 * len(w.model.jobs) + 2):
            for job in list(w.model.jobs.values()):
                self._step_home(next(runner for runner in w.runners if runner.id == job.id))
        assert not w.model.jobs, f"these never got their turn: {w.model.jobs}"

    def _step_home(self, runner: Runner) -> None:
        w = self.w
        job = w.model.jobs.get(runner.id)
        if job is None or not runner.alive:
            return
        if job.state in WAITS:
            w.beat(runner)
        elif job.state == "granted":
            w.start(runner, job.fence)
        else:
            w.finish(runner, job.fence)


@pytest.fixture(params=KINDS)
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    with Server(request.param, short_folder(), "--appendonly", "no") as running:
        yield running


def test_board_and_model_agree(server: Server) -> None:
    """Whatever happens, in whatever order, the board decides as the design's rules do, and all its invariants hold."""

    def machine() -> Machine:
        return Machine(server.url)

    print(f"OMP_COORD_SEED={SEED}")
    chosen = settings(
        max_examples=max(1, STEPS // PER_EXAMPLE), stateful_step_count=PER_EXAMPLE, deadline=None, database=None,
        print_blob=True, suppress_health_check=list(HealthCheck), verbosity=Verbosity.normal,
    )  # fmt: skip
    try:
        run_state_machine_as_test(hypothesis.seed(SEED)(machine), settings=chosen)
    except BaseException as error:
        error.add_note(f"seed: OMP_COORD_SEED={SEED}")
        raise
