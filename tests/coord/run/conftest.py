from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.coord.run.stage import Stage


@pytest.fixture
def stage(tmp_path: os.PathLike[str]) -> Iterator[Stage]:
    """A place for one test; all processes started in it are ended afterwards."""
    stage = Stage(os.fspath(tmp_path))
    yield stage
    stage.close()


@pytest.fixture(params=["kernel", "portable"])
def way(request: pytest.FixtureRequest) -> list[str]:
    """The driver's options for each way of waiting: sigwaitinfo, and handlers as on macOS."""
    return ["--portable"] if request.param == "portable" else []
