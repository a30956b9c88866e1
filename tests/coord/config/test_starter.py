"""A first configuration, made of what a folder shows."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from coord.config.load import read_config
from coord.config.starter import commands_seen, starter_text, write_starter
from coord.config.validate import validate
from coord.errors import ConfigError


def test_each_build_tool_is_recognised(folder: Path) -> None:
    """Scripts, tools and targets are sorted into lint, test and build, each with the command to run."""
    scripts = {"lint": "eslint", "test": "x", "start": "y", "build": "z"}
    (folder / "package.json").write_text(json.dumps({"scripts": scripts}))
    (folder / "yarn.lock").touch()
    (folder / "pyproject.toml").write_text("[tool.ruff]\n[tool.pytest.ini_options]\n[build-system]\nrequires=[]\n")
    (folder / "Makefile").write_text("X := 1\n.PHONY: lint\nlint: a b\n\t@true\ntest::\n\tx\nother:\n")
    (folder / "justfile").write_text("build target='x':\n  x\n@fmt:\n  y\n")
    (folder / "Cargo.toml").write_text("[package]\n")
    assert commands_seen(str(folder)) == {
        "lint": ["yarn run lint", "ruff check .", "make lint", "just fmt", "cargo clippy"],
        "test": ["yarn run test", "pytest", "make test", "cargo test"],
        "build": ["yarn run build", "python -m build", "cargo build"],
    }


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("package.json", "{broken"),
        ("package.json", '{"scripts": [1, {}]}'),
        ("package.json", "[]"),
        ("package.json", '{"scripts": {"lint */ \\n": 1}}'),
        ("pyproject.toml", "x = = 1"),
        ("pyproject.toml", "x = " + "[" * 5000),
        ("pyproject.toml", "tool = 3"),
        ("Makefile", "\x00\x01:::"),
        ("Makefile", "lint" * 50_000),
    ],
)
def test_what_cannot_be_read_is_passed_over(folder: Path, name: str, content: str) -> None:
    """A broken or hostile file of another tool still gives a valid starter with examples."""
    (folder / name).write_text(content)
    config = validate("starter", starter_text(str(folder)).encode())
    assert list(config.queues) == ["test", "build"]


def test_a_starter_is_valid_and_commented(folder: Path) -> None:
    """What is written passes the check, has a pool and the queues seen, and explains itself."""
    (folder / "Makefile").write_text("test:\n\tx\n")
    path = write_starter(str(folder))
    config = read_config(path)[0]
    assert config.agents.pools["work"].cap == 2
    assert list(config.queues) == ["test"]
    assert re.fullmatch(r"project-[0-9a-f]{6}", config.scope)
    assert "// omp-coord run test -- make test" in Path(path).read_text()


@pytest.mark.parametrize("name", ["Größe 1", "x" * 200])
def test_any_folder_name_gives_a_valid_scope(folder: Path, name: str) -> None:
    """Foreign and long names become names that the board takes."""
    other = folder / name
    other.mkdir()
    assert validate("starter", starter_text(str(other)).encode()).scope


def test_each_starter_has_a_scope_of_its_own(folder: Path) -> None:
    """Two projects with the same folder name never meet on one board."""
    assert starter_text(str(folder)) != starter_text(str(folder))


def test_a_file_that_is_there_is_never_touched(folder: Path) -> None:
    """Also an empty one and a link to nowhere stay as they are."""
    path = folder / ".omp-coord.json"
    path.write_text("mine")
    with pytest.raises(ConfigError, match="exists already"):
        write_starter(str(folder))
    assert path.read_text() == "mine"
    path.unlink()
    path.symlink_to(folder / "target")
    with pytest.raises(ConfigError, match="exists already"):
        write_starter(str(folder))
    assert not (folder / "target").exists()


def test_a_starter_is_never_writable_by_all(folder: Path) -> None:
    """With an open umask it would otherwise be ignored as soon as it is written."""
    old = os.umask(0)
    try:
        path = write_starter(str(folder))
    finally:
        os.umask(old)
    assert os.stat(path).st_mode & 0o777 == 0o644


def test_a_folder_that_cannot_be_written_is_one_line(folder: Path) -> None:
    """The reason is said with the path."""
    with pytest.raises(ConfigError, match="cannot be written"):
        write_starter(str(folder / "gone"))
