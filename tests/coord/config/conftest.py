"""A project folder and a state folder of its own for each test."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from coord.config import load as loading
from coord.config.load import load
from coord.config.settings import Settings
from coord.home import Home


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home.find({"OMP_COORD_HOME": str(tmp_path / "state")})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project below a home folder of its own, so that no file of the real one is found."""
    project = tmp_path / "home" / "project"
    project.mkdir(parents=True)
    return project


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path / "home")}


@pytest.fixture
def write(folder: Path) -> Callable[..., Path]:
    """Writes the project's configuration and makes it look long settled, unless told otherwise."""

    def write(content: str | bytes, *, at: Path | None = None) -> Path:
        path = (at or folder) / ".omp-coord.json"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        path.chmod(0o644)
        os.utime(path, (1_700_000_000, 1_700_000_000))
        return path

    return write


@pytest.fixture
def settings(folder: Path, env: dict[str, str], home: Home) -> Callable[..., Settings]:
    """Loads the project's settings."""

    def settings(**options: str) -> Settings:
        return load(str(folder), env, home, **options)

    return settings


@pytest.fixture
def validations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths that were validated instead of taken from the cache."""
    seen: list[str] = []
    real = loading._validated

    def counted(path: str, home: Home) -> dict[str, object]:
        seen.append(path)
        return real(path, home)

    monkeypatch.setattr(loading, "_validated", counted)
    return seen
