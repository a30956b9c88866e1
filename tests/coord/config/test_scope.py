"""The name of the board where no file gives one."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from coord.config.scope import common_directory, scope_of
from coord.names import is_name

ROOT = Path(__file__).parents[3]


def git(folder: Path, *words: str) -> None:
    if not shutil.which("git"):
        pytest.skip("git is not installed")
    identity = ("-c", "user.name=t", "-c", "user.email=t@t", "-c", "protocol.file.allow=always")
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "one" / "my app"
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "commit", "-q", "--allow-empty", "-m", "x")
    return folder


def test_a_plain_folder_gives_its_name_and_path(tmp_path: Path) -> None:
    """The scope is the folder's name, other characters as dashes, and 6 hex digits; it stays the same."""
    folder = tmp_path / "Größe 1"
    folder.mkdir()
    assert re.fullmatch(r"Gr--e-1-[0-9a-f]{6}", scope_of(str(folder)))
    assert scope_of(str(folder)) == scope_of(str(folder))


def test_two_folders_of_one_name_do_not_meet(tmp_path: Path) -> None:
    """`app` here and `app` there are two boards."""
    for parent in ("a", "b"):
        (tmp_path / parent / "app").mkdir(parents=True)
    assert scope_of(str(tmp_path / "a" / "app")) != scope_of(str(tmp_path / "b" / "app"))


@pytest.mark.parametrize("name", ["x" * 200, "日本", ".hidden"])
def test_every_folder_gives_a_valid_name(tmp_path: Path, name: str) -> None:
    """Long, foreign and hidden names, and the root, become names that the board takes."""
    folder = tmp_path / name
    folder.mkdir()
    assert is_name(scope_of(str(folder)))
    assert is_name(scope_of("/"))


def test_a_repository_is_one_scope_from_every_folder(repository: Path) -> None:
    """Subfolders belong to the repository's board."""
    deep = repository / "src" / "x"
    deep.mkdir(parents=True)
    assert scope_of(str(deep)) == scope_of(str(repository))
    assert scope_of(str(repository)).startswith("my-app-")


def test_worktrees_share_the_scope(repository: Path, tmp_path: Path) -> None:
    """A worktree elsewhere, under another name, meets its repository, and knows its common directory."""
    git(repository, "worktree", "add", "-q", str(tmp_path / "elsewhere" / "fix"))
    worktree = tmp_path / "elsewhere" / "fix"
    assert scope_of(str(worktree)) == scope_of(str(repository))
    assert common_directory(str(worktree)) == str(repository.resolve() / ".git")


def test_worktrees_of_a_bare_repository_share_its_name(repository: Path, tmp_path: Path) -> None:
    """`app.git` with worktrees beside it is called `app`."""
    git(tmp_path, "clone", "-q", "--bare", str(repository), "app.git")
    for name in ("w1", "w2"):
        git(tmp_path / "app.git", "worktree", "add", "-q", "-b", name, str(tmp_path / name))
    assert scope_of(str(tmp_path / "w1")) == scope_of(str(tmp_path / "w2"))
    assert scope_of(str(tmp_path / "w1")).startswith("app-")


def test_a_submodule_is_a_scope_of_its_own(repository: Path, tmp_path: Path) -> None:
    """What is checked out inside another repository has its own board."""
    lib = tmp_path / "lib"
    lib.mkdir()
    git(lib, "init", "-q")
    git(lib, "commit", "-q", "--allow-empty", "-m", "x")
    git(repository, "submodule", "add", "-q", str(lib), "lib")
    assert scope_of(str(repository / "lib")).startswith("lib-")


@pytest.mark.parametrize("content", [b"", b"gitdir: /nowhere", b"\xff\x00garbage", b"gitdir:"])
def test_a_broken_git_file_is_looked_past(tmp_path: Path, content: bytes) -> None:
    """A `.git` that is none leaves the folder's own name."""
    folder = tmp_path / "broken"
    folder.mkdir()
    (folder / ".git").write_bytes(content)
    assert scope_of(str(folder)).startswith("broken-")


def test_no_process_is_started(repository: Path) -> None:
    """Git's files are read by hand: starting git would cost more than the run."""
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); from coord.config.scope import scope_of;"
        f"scope_of({str(repository)!r}); print('subprocess' in sys.modules)"
    )
    answer = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "False"
