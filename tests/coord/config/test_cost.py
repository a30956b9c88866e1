"""What a run pays for its configuration."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from coord.config.settings import Settings
from coord.home import Home

ROOT = Path(__file__).parents[3]
FILE = """{
  "scope": "demo", // the name
  "queues": {
    "build": { "slots": 1, "timeLimit": "10m", "leftovers": "kill", "lanes": { "quick": { "priority": 5 } } },
    "lint": { "slots": 2, "order": "fair-share" },
  },
  "leaseSeconds": 4,
}"""

Write = Callable[..., Path]
Load = Callable[..., Settings]


HEAVY = (
    "re json typing dataclasses enum signal socket subprocess pathlib argparse hashlib threading logging "
    "contextlib functools collections struct tempfile shutil shlex inspect difflib pydantic typer redis psutil"
)


def _modules_after_load(folder: Path, home: Home, env: dict[str, str]) -> set[str]:
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
        "before = set(sys.modules)\n"
        "from coord.config.load import load\nfrom coord.home import Home\n"
        f"load({str(folder)!r}, {env!r}, Home.find({{'OMP_COORD_HOME': {home.root!r}}})).queue('build')\n"
        "print(*set(sys.modules) - before)"
    )
    words = [sys.executable, "-I", "-S", "-c", code]
    return set(subprocess.run(words, capture_output=True, text=True, check=True).stdout.split())


def test_a_hit_imports_nothing_heavy(
    write: Write, settings: Load, folder: Path, home: Home, env: dict[str, str]
) -> None:
    """The runner pays for a few small modules only: no pydantic, no json, no re."""
    write(FILE)
    settings()
    loaded = _modules_after_load(folder, home, env)
    assert loaded & set(HEAVY.split()) == set()
    assert {name for name in loaded if name.startswith("coord.config.")} == {
        "coord.config.cache",
        "coord.config.find",
        "coord.config.load",
        "coord.config.settings",
    }


def test_no_file_imports_nothing_heavy(folder: Path, home: Home, env: dict[str, str]) -> None:
    """Without a configuration it is as cheap."""
    loaded = _modules_after_load(folder, home, env)
    assert loaded & set(HEAVY.split()) == set()
