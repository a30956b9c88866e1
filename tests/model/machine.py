"""The rules by which hypothesis makes a history: runners come, wait, run, stop, die; servers and clocks go astray."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from tests.model import strategies as some
from tests.model.home import go_home
from tests.model.runner import Runner
from tests.model.world import World

_scopes = itertools.count()
HERE = ("asks", "waiting", "running", "stopped")


class Machine(RuleBasedStateMachine):
    """One example: a board of its own, some policies, some runners. `url` is the server's."""

    url = ""

    def __init__(self) -> None:
        super().__init__()
        self.world: World | None = None
        self.saved: Any = None
        self.calm = 0

    @initialize(policies=some.policies, fresh=st.sampled_from((True, True, False)))
    def a_board(self, policies: dict[str, Any], fresh: bool) -> None:
        self.world = World(self.url, f"m{next(_scopes)}", policies, fresh)

    @property
    def w(self) -> World:
        assert self.world is not None
        return self.world

    def teardown(self) -> None:
        if self.world is not None:
            self.world.close()

    # --- who

    def one(self, pick: int, fits: Callable[[Runner], bool]) -> Runner | None:
        """One of the runners that fit, the newest for 0."""
        found = [runner for runner in reversed(self.w.runners) if fits(runner)]
        return found[pick % len(found)] if found else None

    def living(self, pick: int, *phases: str) -> Runner | None:
        return self.one(pick, lambda runner: runner.alive and runner.phase in phases)

    def any_in(self, *phases: str) -> bool:
        return self.living(0, *phases) is not None

    # --- runners

    @rule(pick=some.anyone, owner=st.sampled_from("xyz"), machine=some.machines, wait=some.waits,
          limit=st.sampled_from((None, None, 5000)), deaf=some.rarely, lost=some.rarely, count=st.integers(1, 5),
          step=st.integers(0, 2))  # fmt: skip
    def come(
        self,
        pick: int,
        owner: str,
        machine: str,
        wait: bool,
        limit: int | None,
        deaf: bool,
        lost: bool,
        count: int,
        step: int,
    ) -> None:
        """Runners ask for slots; an answer may be lost."""
        for i in range(count):
            self._comes(pick + i * step, owner, machine, None, wait, limit, deaf, lost)

    @precondition(lambda self: self.any_in("running"))
    @rule(pick=some.anyone, above=some.anyone, wait=st.booleans(), deaf=some.rarely, lost=some.rarely)
    def comes_from_a_job(self, pick: int, above: int, wait: bool, deaf: bool, lost: bool) -> None:
        """A running job's command asks for a slot itself."""
        parent = self.living(above, "running")
        assert parent is not None
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
        places = w.places()
        policy, queue, lane = places[pick % len(places)]
        number = len(w.runners)
        id = f"{'zyxwvutsrq'[number % 10]}{number}"  # ids in another order than their tickets
        runner = Runner(id, machine, 1000 + number, queue, lane, owner, policy, parent, wait, limit)
        w.runners.append(runner)
        self.calm += 1
        w.listen(id, not deaf)
        w.enqueue(runner, lost)

    @precondition(lambda self: self.any_in(*HERE))
    @rule(who=st.integers(0, 2**12 - 1), ms=st.sampled_from((0, 100, 900, 2000, 2000)))
    def life_goes_on(self, who: int, ms: int) -> None:
        """Time passes; some of the living do what is next for them."""
        self.w.clock.step(ms)
        living = [runner for runner in self.w.runners if runner.alive and runner.phase in HERE]
        for i, runner in enumerate(living):
            if who >> (i % 12) & 1:
                self._next_of(runner)

    def _next_of(self, runner: Runner) -> None:
        """Asks or beats; confirms a grant; ends after the beat that follows its start."""
        w = self.w
        job = w.model.jobs.get(runner.id)
        if runner.phase == "asks":
            w.enqueue(runner)
        elif job is not None and job.state == "granted":
            w.start(runner, job.fence)
        elif runner.phase == "running" and job is not None and w.model.last_beat > (job.started_at or 0):
            w.finish(runner, runner.fence)
        else:
            self._beats(runner)

    def _beats(self, runner: Runner, policy: str = "", lost: bool = False) -> None:
        """A runner that the board does not know registers itself again with what it has."""
        verdict = self.w.beat(runner, policy, lost=lost).verdict
        if verdict == "unknown" and runner.phase in HERE[1:]:
            self.w.register(runner)

    @precondition(lambda self: self.w.runners)
    @rule(pick=some.anyone)
    def asks_again(self, pick: int) -> None:
        """An enqueue is repeated: the present state is answered, and nothing is changed twice."""
        runner = self.one(pick, lambda runner: runner.alive)
        if runner:
            self.w.enqueue(runner)

    @precondition(lambda self: self.any_in(*HERE))
    @rule(pick=some.anyone, change=st.booleans(), to=some.anyone, lost=some.rarely)
    def beats(self, pick: int, change: bool, to: int, lost: bool) -> None:
        """One beats, perhaps with another policy than before."""
        runner = self.living(pick, *HERE)
        assert runner is not None
        policies = list(self.w.policies)
        self._beats(runner, policies[to % len(policies)] if change else "", lost)

    @precondition(lambda self: any(job.state == "granted" for job in self.w.model.jobs.values()))
    @rule(pick=some.anyone, lost=st.booleans())
    def confirms(self, pick: int, lost: bool) -> None:
        """A granted waiter confirms with the fence that it was told of; when the answer is lost, it does so again later."""
        granted = [id for id, job in self.w.model.jobs.items() if job.state == "granted"]
        runner = self.one(pick, lambda runner: runner.alive and runner.id in granted)
        if runner:
            self.w.start(runner, self.w.model.jobs[runner.id].fence, lost=lost)

    @precondition(lambda self: self.any_in("running"))
    @rule(pick=some.anyone, lost=some.rarely)
    def finishes(self, pick: int, lost: bool) -> None:
        runner = self.living(pick, "running")
        assert runner is not None
        self.w.finish(runner, runner.fence, lost=lost)
        if lost:
            self.w.finish(runner, runner.fence)

    @precondition(lambda self: self.w.runners)
    @rule(pick=some.anyone, how=st.sampled_from(("again", "stale", "foreign", "beat", "start")))
    def errs(self, pick: int, how: str) -> None:
        """A second, stale or foreign word changes nothing."""
        w, runner = self.w, self.one(pick, lambda runner: True)
        assert runner is not None
        if how == "beat":
            w.beat(runner, instance="other", lost=True)
        elif how == "start" and runner.alive:
            w.start(runner, runner.stale[-1] if runner.stale else runner.fence)
        elif how == "foreign":
            w.finish(runner, runner.fence, instance="other")
        elif how == "stale":
            w.finish(runner, (runner.fence or 1) - 1, lost=True)
        elif how == "again" and runner.phase == "done":
            w.finish(runner, runner.fence)

    @precondition(lambda self: self.any_in("running", "stopped"))
    @rule(pick=some.anyone)
    def stops_or_goes_on(self, pick: int) -> None:
        runner = self.living(pick, "running", "stopped")
        assert runner is not None
        runner.phase = "stopped" if runner.phase == "running" else "running"
        self._beats(runner)

    @precondition(lambda self: self.any_in(*HERE))
    @rule(pick=some.anyone, how=st.sampled_from(("own", "other", "kill")), machine=some.machines)
    def is_cancelled(self, pick: int, how: str, machine: str) -> None:
        runner = self.living(pick, *HERE)
        assert runner is not None
        self.w.cancel(runner, machine, own=how == "own", kill=how == "kill")

    @precondition(lambda self: self.any_in(*HERE[1:]))
    @rule(pick=some.anyone)
    def registers(self, pick: int) -> None:
        """After a reconnect a runner registers what it has, whether the board knows it or not."""
        runner = self.living(pick, *HERE[1:])
        assert runner is not None
        self.w.register(runner)

    @precondition(lambda self: self.any_in("waiting"))
    @rule(pick=some.anyone)
    def listens_or_not(self, pick: int) -> None:
        runner = self.living(pick, "waiting")
        assert runner is not None
        self.w.listen(runner.id, runner.id not in self.w.model.listening)

    # --- deaths

    @precondition(lambda self: self.any_in(*HERE))
    @rule(pick=some.anyone)
    def dies(self, pick: int) -> None:
        runner = self.living(pick, *HERE)
        assert runner is not None
        runner.alive = False
        self.w.listen(runner.id, on=False)

    @precondition(lambda self: self.w.model.jobs)
    @rule(pick=some.anyone, count=st.integers(1, 3), lie=some.rarely, wrong=some.mistakes,
          orphaned=some.rarely, machine=some.machines)  # fmt: skip
    def is_looked_at(self, pick: int, count: int, lie: bool, wrong: str, orphaned: bool, machine: str) -> None:
        """Somebody vouches, with its next call, for what it saw in the process table: the dead first."""
        known = sorted(self.w.model.jobs)
        there = sorted((runner for runner in self.w.runners if runner.id in known), key=lambda runner: runner.alive)
        seen = []
        for runner in there[pick % 2 :][:count]:
            truth = "live" if runner.alive != lie else "gone"
            one = runner.seen("orphaned" if orphaned and not runner.alive else truth)
            seen.append({**one, wrong: {"pid": 1, "start": "0", "instance": "?"}[wrong]} if wrong else one)
        self.w.vouches[machine] = seen

    @precondition(lambda self: self.w.model.jobs)
    @rule(machine=some.machines)
    def sweeps(self, machine: str) -> None:
        self.w.sweep(machine)

    @precondition(lambda self: self.w.model.jobs)
    @rule()
    def is_read(self) -> None:
        """Somebody looks at the whole board."""
        self.w.read()

    # --- time, load, accidents

    @precondition(lambda self: self.w.model.jobs)
    @rule(ms=some.moments)
    def time_goes_on(self, ms: int) -> None:
        self.w.clock.step(ms)

    @precondition(lambda self: self.w.model.jobs)
    @rule(ms=some.setbacks)
    def the_clock_is_set_back(self, ms: int) -> None:
        self.w.clock.step(-ms)

    @rule(machine=some.machines, load=some.loads)
    def the_load_changes(self, machine: str, load: float) -> None:
        self.w.boards[machine]._common["load"] = load

    @precondition(lambda self: self.calm > 5)
    @rule(what=st.sampled_from(("sleep", "flush", "save")), ms=some.sleeps)
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
        for runner in self.w.runners:
            if runner.alive and runner.phase in HERE[1:]:
                self.w.register(runner)

    @precondition(lambda self: self.calm > 9)
    @rule()
    def everybody_goes_home(self) -> None:
        """Whoever lives gets its turn in the end, and an empty board is left."""
        self.calm = 0
        go_home(self.w)
