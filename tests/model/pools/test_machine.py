"""Random histories of sessions and pools on a real board and on the reference model, side by side."""

from __future__ import annotations

import pytest

from tests.model.play import own_server, play
from tests.model.pools.machine import Machine
from tests.servers import Server

__all__ = ["own_server"]


@pytest.mark.timeout(1200)  # a history that failed is made short first
def test_board_and_model_agree(own_server: Server) -> None:
    """Whatever sessions do, in whatever order, the board decides as the design's rules do, and all invariants hold."""
    play(Machine, own_server, 1500)
