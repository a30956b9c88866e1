from __future__ import annotations

import pytest

from tests.limited import Scope
from tests.lua.world import World


@pytest.fixture
def world(scope: Scope) -> World:
    """A board to play a row of a table on."""
    return World(scope)
