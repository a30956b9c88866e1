"""A home for pages to be tried in."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import pytest

from tests.cli.den import NOBODY, ROOT, Den, den_of

PYTHON = f"""#!{sys.executable}
import runpy, sys
sys.path[:0] = [{ROOT!r}, {ROOT + "/cli"!r}]
from coord.server import decide
decide.LOCAL_URL = {NOBODY!r}
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.fixture(scope="module")
def den() -> Iterator[Den]:
    """A new home with the commands `omp-coord` and `python3` on its PATH, and no server yet."""
    with den_of() as den:
        python = os.path.join(den.folder, "bin", "python3")
        with open(python, "w", encoding="utf-8") as file:
            file.write(PYTHON)
        os.chmod(python, 0o755)
        yield den
