"""Where histories of sessions play: a board, its jobs, its time and its load."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from tests.model.pools import strategies as some
from tests.model.pools.host import Host
from tests.model.pools.world import PoolWorld
from tests.model.runner import Runner

_scopes = itertools.count()


class Scene(RuleBasedStateMachine):
    """One example: a board of its own, some policies, some sessions and jobs. `url` is the server's."""

    url = ""

    def __init__(self) -> None:
        super().__init__()
        self.world: PoolWorld | None = None
        self.saved: Any = None
        self.calm = 0

    @initialize(policies=some.policies, fresh=st.sampled_from((True, True, False)), again=st.booleans())
    def a_board(self, policies: dict[str, Any], fresh: bool, again: bool) -> None:
        self.world = PoolWorld(self.url, f"s{next(_scopes)}", policies, fresh)
        self.world.again = again

    @property
    def w(self) -> PoolWorld:
        assert self.world is not None
        return self.world

    def teardown(self) -> None:
        if self.world is not None:
            self.world.close()

    # --- who

    def one(self, pick: int, fits: Callable[[Host], object] = lambda host: host.speaks) -> Host | None:
        """One of the sessions that fit, the newest for 0."""
        found = [host for host in reversed(self.w.hosts) if fits(host)]
        return found[pick % len(found)] if found else None

    def speaker(self, pick: int) -> Host:
        host = self.one(pick)
        assert host is not None
        return host

    def policy(self, pick: int) -> str:
        """Most often the first one, so that sessions meet in one pool."""
        names = list(self.w.policies)
        return names[pick // 2 % len(names) if pick % 2 else 0]

    # --- jobs, lightly

    @precondition(lambda self: self.calm > 1)
    @rule(pick=some.anyone, machine=some.machines)
    def a_job_comes(self, pick: int, machine: str) -> None:
        w, number = self.w, len(self.w.runners)
        runner = Runner(f"j{number}", machine, 1000 + number, "q", "default", "x", self.policy(pick), None, True, None)
        w.runners.append(runner)
        w.listen(runner.id)
        w.enqueue(runner)

    @precondition(lambda self: self.w.model.jobs)
    @rule()
    def jobs_go_on(self) -> None:
        """Jobs beat; the one that was granted a slot starts, the oldest running one ends."""
        w, ended = self.w, False
        for runner in w.runners:
            job = w.model.jobs.get(runner.id)
            if job is None or not runner.alive:
                continue
            if job.state == "granted":
                w.start(runner, job.fence)
            elif runner.phase == "running" and not ended:
                ended = True
                w.finish(runner, runner.fence)
            elif w.beat(runner).verdict == "unknown":
                w.register(runner)

    # --- time, load, accidents

    @precondition(lambda self: self.w.model.sessions)
    @rule(ms=some.moments)
    def time_goes_on(self, ms: int) -> None:
        self.w.clock.step(ms)

    @precondition(lambda self: self.w.model.sessions)
    @rule(ms=some.setbacks)
    def the_clock_is_set_back(self, ms: int) -> None:
        self.w.clock.step(-ms)

    @rule(machine=some.machines, load=some.loads)
    def the_load_changes(self, machine: str, load: float) -> None:
        self.w.boards[machine]._common["load"] = load
