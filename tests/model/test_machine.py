"""Random histories of jobs on a real board and on the reference model, side by side, on every kind of server."""

from __future__ import annotations

import pytest

from tests.model.machine import Machine
from tests.model.play import own_server, play
from tests.servers import Server

__all__ = ["own_server"]


@pytest.mark.timeout(1200)  # a history that failed is made short first
def test_board_and_model_agree(own_server: Server) -> None:
    """Whatever happens, in whatever order, the board decides as the design's rules do, and all its invariants hold."""
    play(Machine, own_server, 2000)
