"""coord.scripts: includes, and names of keys and arguments."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from coord import scripts
from coord.keys import Keys

HEAD = "local META = unpack(KEYS)\nlocal a, b = unpack(ARGV)\n"


@pytest.fixture
def folder(tmp_path: Path) -> str:
    """An empty folder of scripts."""
    (tmp_path / "lib").mkdir()
    return os.fspath(tmp_path)


def write(folder: str, **files: str) -> None:
    for name, text in files.items():
        with open(os.path.join(folder, name.replace("lib_", "lib/") + ".lua"), "w", encoding="utf-8") as file:
            file.write(text)


def test_an_include_stands_where_it_is_first_needed_and_once(folder: str) -> None:
    """A step that two others need comes before both, one time."""
    write(
        folder, x=HEAD + "-- @include lib/one\n-- @include lib/two\nreturn 1", lib_one="-- @include lib/base\none",
        lib_two="-- @include lib/base\ntwo", lib_base="base",
    )  # fmt: skip
    assert scripts.load("x", folder).text == HEAD + "base\none\ntwo\nreturn 1"


def test_an_indented_include_belongs_to_its_block(folder: str) -> None:
    """Two blocks that need the same step have it each; what stands at the top is not taken in again."""
    text = "-- @include lib/top\nif a then\n  -- @include lib/one\nelse\n  -- @include lib/one\nend"
    write(folder, x=HEAD + text, lib_one="-- @include lib/top\none", lib_top="top")
    assert scripts.load("x", folder).text == HEAD + "top\nif a then\none\nelse\none\nend"


def test_a_missing_include_fails_with_file_and_line(folder: str) -> None:
    """The error says which line asks for what is not there, also within a step."""
    write(folder, x=HEAD + "-- @include lib/one", lib_one="-- @include lib/none")
    with pytest.raises(scripts.ScriptError, match=r"^lib/one\.lua:1: there is no lib/none\.lua$"):
        scripts.load("x", folder)


def test_a_double_include_fails_with_file_and_line(folder: str) -> None:
    """One file asks for a step once."""
    write(folder, x=HEAD + "-- @include lib/one\n-- @include lib/one", lib_one="one")
    with pytest.raises(scripts.ScriptError, match=r"^x\.lua:4: lib/one is included twice$"):
        scripts.load("x", folder)


@pytest.mark.parametrize("steps", [{"lib_one": "-- @include lib/one"},
                                   {"lib_one": "-- @include lib/two", "lib_two": "\n-- @include lib/one"}],
                         ids=["itself", "in a circle"])  # fmt: skip
def test_a_circular_include_fails_with_file_and_line(folder: str, steps: dict[str, str]) -> None:
    """A step never includes itself, not even by way of others."""
    write(folder, x=HEAD + "-- @include lib/one", **steps)
    where = r"lib/two\.lua:2" if len(steps) == 2 else r"lib/one\.lua:1"
    with pytest.raises(scripts.ScriptError, match=rf"^{where}: lib/one includes itself$"):
        scripts.load("x", folder)


def test_a_missing_script_is_a_missing_file(folder: str) -> None:
    """A script that is not there is no include: the file's own error."""
    with pytest.raises(FileNotFoundError):
        scripts.load("none", folder)


def test_names_are_read_from_the_two_lines(folder: str) -> None:
    """Keys and arguments are those that the script names, on one line or several; there may be none."""
    write(folder, x="local META,\n  JOBS = unpack(KEYS)\nlocal a,\n  b = unpack(ARGV)", y="local META = unpack(KEYS)")
    script = scripts.load("x", folder)
    assert (script.keys, script.args) == (["META", "JOBS"], ["a", "b"])
    assert scripts.load("y", folder).args == []


def test_a_line_that_names_nothing_fails(folder: str) -> None:
    """`unpack(KEYS)` without names is an error of the script."""
    write(folder, x="META = unpack(KEYS)")
    with pytest.raises(scripts.ScriptError, match=r"^x\.lua: unpack\(KEYS\) names nothing$"):
        scripts.load("x", folder)


def test_names_bind_whatever_their_order(folder: str) -> None:
    """Values go to the places of their names; a missing one is a TypeError that names it; more are left out."""
    write(folder, x=HEAD)
    script = scripts.load("x", folder)
    assert script.bind(Keys("s"), {"b": 2, "a": 1, "c": 3}) == [1, "coord:{s}:meta", 1, 2]
    with pytest.raises(TypeError, match=r"^x\.lua needs the argument 'b'$"):
        script.bind(Keys("s"), {"a": 1})


def test_the_folder_lists_scripts_without_steps(folder: str) -> None:
    """Scripts are the .lua files of the folder itself."""
    write(folder, x="", y="", lib_z="")
    assert scripts.names(folder) == ["x", "y"]
