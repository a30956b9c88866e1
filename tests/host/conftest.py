"""The real omp with a scripted model. In CI a missing omp is a failure; at home these tests are skipped then."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.cli.den import den_of
from tests.host.install import NoHost, OmpHost, present
from tests.host.model import serving
from tests.host.world import World


@pytest.fixture(scope="session")
def omp_host() -> OmpHost:
    try:
        return present(os.environ)
    except NoHost as missing:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(str(missing))
        raise


@pytest.fixture
def world(omp_host: OmpHost) -> Iterator[World]:
    """A machine of the test's own, with a pool `work` of two slots. No server runs on it yet."""
    with serving() as model, den_of() as den:
        world = World(den, model, omp_host)
        world.config()
        try:
            yield world
        finally:
            print(world.account())  # shown when the test failed
            world.close()
