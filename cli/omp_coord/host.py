"""The coding agent's own command `omp`, as far as plugins go."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from typing import Any, NamedTuple

from coord.errors import CoordError

NAME = "omp-coord"
PATIENCE_S = 120
"""omp itself takes seconds; an install may fetch something."""


class Installed(NamedTuple):
    """The plugin as omp has it. `how`: link, package or marketplace; `id`: by what it is taken out again."""

    how: str
    id: str
    version: str
    path: str
    enabled: bool
    scope: str


def program() -> str | None:
    """Where `omp` lies; None when it is not on PATH."""
    return shutil.which("omp")


def command() -> str | None:
    """Which omp-coord the plugin starts; None when it finds none."""
    return shutil.which(os.environ.get("OMP_COORD_BIN") or NAME)


def plugin(*words: str) -> str:
    """What `omp plugin WORDS` prints; CoordError, in one line, when there is no omp or it fails."""
    omp = program()
    if omp is None:
        raise CoordError("omp is not on PATH: install omp, or add its folder to PATH, and try again")
    line = " ".join(["omp plugin", *words])
    try:
        ended = subprocess.run(
            [omp, "plugin", *words], env={**os.environ, "NO_COLOR": "1"}, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, errors="replace", timeout=PATIENCE_S, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CoordError(f"{line} does not run: {error}") from None
    if ended.returncode:
        said = (ended.stderr.strip() or ended.stdout.strip() or f"exit {ended.returncode}").splitlines()[-1]
        raise CoordError(f"{line} failed: {said.strip()}")
    return ended.stdout


def installed() -> list[Installed]:
    """Every way in which omp has the plugin now."""
    try:
        found: dict[str, Any] = json.loads(plugin("list", "--json"))
        return [
            *(_package(one) for one in found["npm"] if one["name"] == NAME),
            *(
                _entry(one["id"], entry)
                for one in found["marketplace"]
                if _is_ours(one["id"])
                for entry in one["entries"]
            ),
        ]
    except (ValueError, KeyError, TypeError, AttributeError):
        raise CoordError("omp plugin list --json says nothing that can be read: is this omp too old?") from None


def _package(one: dict[str, Any]) -> Installed:
    how = "link" if os.path.islink(one["path"]) else "package"
    path = os.path.realpath(one["path"])
    return Installed(how, NAME, str(one["version"]), path, one.get("enabled") is not False, "user")


def _entry(id: str, entry: dict[str, Any]) -> Installed:
    enabled = entry.get("enabled") is not False
    return Installed("marketplace", id, str(entry["version"]), str(entry["installPath"]), enabled, str(entry["scope"]))


def _is_ours(id: str) -> bool:
    return id.partition("@")[0] == NAME
