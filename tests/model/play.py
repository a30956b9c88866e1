"""Plays a state machine on a server.

`OMP_COORD_STEPS` sets how many steps are made, `OMP_COORD_SEED` repeats a run; the seed of a run that failed stands in its
notes. In CI a history that failed is told as it was; elsewhere it is first made as short as can be, which takes minutes.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from typing import Any

import hypothesis
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from tests.servers import KINDS, Server

PER_EXAMPLE = 50
SEED = int(os.environ.get("OMP_COORD_SEED") or random.SystemRandom().getrandbits(32))


@pytest.fixture(params=KINDS)
def own_server(request: pytest.FixtureRequest) -> Iterator[Server]:
    """A server of every kind, of the test's own."""
    with Server(request.param, "--appendonly", "no") as running:
        yield running


def play(machine: type[RuleBasedStateMachine], server: Server, steps: int) -> None:
    """Fails with what hypothesis finds, and the seed to find it again."""
    on_this_server: Any = type("OnThisServer", (machine,), {"url": server.url})
    print(f"OMP_COORD_SEED={SEED}")
    chosen = settings(
        max_examples=max(1, int(os.environ.get("OMP_COORD_STEPS", steps)) // PER_EXAMPLE),
        stateful_step_count=PER_EXAMPLE,
        deadline=None,
        database=None,
        print_blob=True,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate] if os.environ.get("CI") == "true" else [Phase.generate, Phase.shrink],
    )
    try:
        run_state_machine_as_test(hypothesis.seed(SEED)(on_this_server), settings=chosen)
    except BaseException as error:
        error.add_note(f"again with: OMP_COORD_SEED={SEED}")
        raise
