"""Where the command itself lies, for the lines by which a bridge queues agents' commands."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from omp_coord.bridge_command import own_path


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with no omp-coord to be found anywhere."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python" / "python3"))
    monkeypatch.setattr(sys, "argv", [str(tmp_path / "omp_coord" / "__main__.py"), "bridge"])
    return tmp_path


def script(folder: Path, name: str = "omp-coord", mode: int = 0o755) -> str:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text("#!/bin/sh\n")
    (folder / name).chmod(mode)
    return str(folder / name)


def test_the_script_that_was_started(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its absolute or relative path, or by a link to it, which stays when the package is installed anew."""
    monkeypatch.setattr(sys, "argv", [script(bare / "a b"), "bridge"])
    assert own_path() == f"{bare}/a b/omp-coord"
    monkeypatch.setattr(sys, "argv", ["./a b/../a b/omp-coord", "bridge"])
    assert own_path() == f"{bare}/a b/omp-coord"
    (bare / "bin").mkdir()
    (bare / "bin" / "omp-coord").symlink_to(bare / "a b" / "omp-coord")
    monkeypatch.setattr(sys, "argv", ["bin/omp-coord", "bridge"])
    assert own_path() == f"{bare}/bin/omp-coord"


def test_started_as_a_module(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`python -m omp_coord`: the script beside the interpreter, else the one on PATH, else none."""
    assert own_path() == ""
    script(bare / "python", mode=0o644)
    assert own_path() == ""
    on_path = script(bare / "path")
    monkeypatch.setenv("PATH", f"/nowhere{os.pathsep}{bare}/path")
    assert own_path() == on_path
    assert own_path() == on_path
    script(bare / "python")
    assert own_path() == f"{bare}/python/omp-coord"
