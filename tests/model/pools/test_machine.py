"""Random histories of sessions and pools on a real board and on the reference model, side by side.

`OMP_COORD_STEPS` sets how many steps each kind of server makes (default 1,500), `OMP_COORD_SEED` repeats a run; the seed of
a run that failed stands in its notes.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator

import hypothesis
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.model.pools.machine import Machine
from tests.servers import KINDS, Server, short_folder

STEPS = int(os.environ.get("OMP_COORD_STEPS", "1500"))
PER_EXAMPLE = 50
SEED = int(os.environ.get("OMP_COORD_SEED") or random.SystemRandom().getrandbits(32))


@pytest.fixture(params=KINDS)
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    with Server(request.param, short_folder(), "--appendonly", "no") as running:
        yield running


def test_board_and_model_agree(server: Server) -> None:
    """Whatever sessions do, in whatever order, the board decides as the design's rules do, and all invariants hold."""

    class OnThisServer(Machine):
        url = server.url

    print(f"OMP_COORD_SEED={SEED}")
    chosen = settings(
        max_examples=max(1, STEPS // PER_EXAMPLE),
        stateful_step_count=PER_EXAMPLE,
        deadline=None,
        database=None,
        print_blob=True,
        suppress_health_check=list(HealthCheck),
    )
    try:
        run_state_machine_as_test(hypothesis.seed(SEED)(OnThisServer), settings=chosen)
    except BaseException as error:
        error.add_note(f"again with: OMP_COORD_SEED={SEED}")
        raise
