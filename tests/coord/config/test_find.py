"""Where a configuration is looked for, and which files are not believed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from coord.config import find as finding
from coord.config.find import find
from coord.errors import ConfigError

Write = Callable[..., Path]


def test_the_first_file_upwards_wins(folder: Path, env: dict[str, str], write: Write) -> None:
    """From a subfolder the nearest file above it is found."""
    outer = write("{}", at=folder.parent)
    deep = folder / "a" / "b"
    deep.mkdir(parents=True)
    assert find(str(deep), env) == (str(outer), [])
    inner = write("{}")
    assert find(str(deep), env) == (str(inner), [])


def test_the_search_ends_at_the_home_folder(folder: Path, env: dict[str, str], write: Write) -> None:
    """A file in the home folder counts, one above it does not."""
    write("{}", at=folder.parent.parent)
    assert find(str(folder), env) == (None, [])
    mine = write("{}", at=folder.parent)
    assert find(str(folder), env) == (str(mine), [])


def test_the_search_ends_at_a_file_system_border(
    folder: Path, env: dict[str, str], write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A parent on another device is not looked into."""
    write("{}", at=folder.parent)
    monkeypatch.setattr(finding, "_device", lambda path: -1)
    assert find(str(folder), env) == (None, [])


def test_without_home_the_search_ends_at_the_root(folder: Path, write: Write) -> None:
    """HOME unset is no error."""
    path = write("{}")
    assert find(str(folder), {}) == (str(path), [])


def test_a_removed_working_folder_has_no_configuration(folder: Path, env: dict[str, str]) -> None:
    """A command may still run in a folder that is gone."""
    assert find(str(folder / "gone"), env) == (None, [])


def test_a_world_writable_file_is_passed_over_with_a_warning(folder: Path, env: dict[str, str], write: Write) -> None:
    """Anybody could have written it, so the next one above counts, and why is said."""
    outer = write("{}", at=folder.parent)
    write("{}").chmod(0o666)
    path, warnings = find(str(folder), env)
    assert path == str(outer)
    assert len(warnings) == 1
    assert "chmod o-w" in warnings[0]


def test_a_foreign_file_is_passed_over_with_a_warning(
    folder: Path, env: dict[str, str], write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of another user, who is not root, is not believed; root's is."""
    path = write("{}")
    real = path.stat()
    for uid, believed in ((real.st_uid + 4242, False), (0, True)):
        status = os.stat_result((real.st_mode, 0, 0, 1, uid, 0, 2, 0, 0, 0))
        with monkeypatch.context() as patch:
            patch.setattr(os, "lstat", lambda _path, status=status: status)
            patch.setattr(os, "geteuid", lambda: real.st_uid + 1)
            found, warnings = find(str(folder), env, str(path)) if believed else finding._judge(str(path))
        assert (found == str(path)) if believed else ("another user" in str(warnings))


def test_a_link_to_nowhere_is_said(folder: Path, env: dict[str, str]) -> None:
    """A dangling link is not taken for no file in silence."""
    (folder / ".omp-coord.json").symlink_to("nowhere")
    path, warnings = find(str(folder), env)
    assert path is None
    assert "link to nowhere" in warnings[0]


def test_a_folder_in_its_place_is_an_error(folder: Path, env: dict[str, str]) -> None:
    """Only a plain file can be a configuration: a folder or a pipe would hang or mislead."""
    (folder / ".omp-coord.json").mkdir()
    with pytest.raises(ConfigError, match="not a plain file"):
        find(str(folder), env)


def test_a_folder_that_cannot_be_searched_is_one_clear_error(
    folder: Path, env: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Permission denied is said with the path, in one line."""

    def refuse(path: str) -> os.stat_result:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "lstat", refuse)
    with pytest.raises(ConfigError, match="Permission denied") as caught:
        find(str(folder), env)
    assert len(str(caught.value).splitlines()) == 1


def test_a_named_file_is_taken_relative_to_the_folder(folder: Path, env: dict[str, str], write: Write) -> None:
    """`--config FILE` wins over the one that would be found."""
    write("{}")
    other = folder / "team.json"
    other.write_text("{}")
    assert find(str(folder), env, "team.json") == (str(other), [])


@pytest.mark.parametrize("name", ["missing.json", "a\x00b", "x" * 300])
def test_a_named_file_that_is_not_there_is_an_error(folder: Path, env: dict[str, str], name: str) -> None:
    """What was asked for by name is never silently replaced."""
    with pytest.raises(ConfigError) as caught:
        find(str(folder), env, name)
    assert str(caught.value).isprintable()


def test_a_named_file_that_anybody_may_write_is_an_error(folder: Path, env: dict[str, str], write: Write) -> None:
    """A file asked for by name is refused, not passed over."""
    write("{}").chmod(0o646)
    with pytest.raises(ConfigError, match="chmod o-w"):
        find(str(folder), env, ".omp-coord.json")
