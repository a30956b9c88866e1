"""coord.scripts: what is remembered of the scripts, and when it is made anew. (Includes and names: tests/contract.)"""

from __future__ import annotations

import marshal
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from coord import scripts
from coord.errors import Unavailable
from coord.keys import Keys


@pytest.fixture
def lua(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the scripts, used instead of them."""
    folder = tmp_path / "lua"
    shutil.copytree(scripts.FOLDER, folder)
    monkeypatch.setattr(scripts, "FOLDER", os.fspath(folder))
    monkeypatch.setattr(scripts, "CHECKOUT", os.fspath(folder))
    return folder


@pytest.fixture
def cache(tmp_path: Path) -> str:
    path = tmp_path / "cache"
    path.mkdir(mode=0o700)
    return os.fspath(path)


def facts(found: dict[str, scripts.Script]) -> dict[str, tuple[str, list[str], list[str]]]:
    return {name: (script.sha, script.keys, script.args) for name, script in found.items()}


def real() -> dict[str, tuple[str, list[str], list[str]]]:
    return {name: (script.sha, script.keys, script.args) for name in scripts.names() for script in [load(name)]}


def load(name: str) -> scripts.Script:
    return scripts.load(name)


def remembered_without_work(cache: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, scripts.Script]:
    """What is remembered; putting a script together is a failure."""

    def never(*_: Any, **__: Any) -> Any:
        raise AssertionError("a script was put together")

    with monkeypatch.context() as patch:
        patch.setattr(scripts, "load", never)
        return scripts.remembered(cache)


def test_what_is_remembered_is_what_is_there(cache: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """SHA, keys and arguments are those of the scripts as they are put together, and the second time come without that."""
    assert facts(scripts.remembered(cache)) == real()
    assert facts(remembered_without_work(cache, monkeypatch)) == real()


def test_the_text_comes_when_it_is_asked_for(cache: str) -> None:
    """The text of a remembered script is the one that its SHA is of."""
    scripts.remembered(cache)
    for name, script in scripts.remembered(cache).items():
        assert script.text == load(name).text


def test_the_file_is_this_users_own(cache: str) -> None:
    """Nobody else may read or write what is remembered."""
    scripts.remembered(cache)
    (name,) = os.listdir(cache)
    assert os.stat(f"{cache}/{name}").st_mode & 0o777 == 0o600


@pytest.mark.parametrize("file", ["job_start.lua", "lib/clock.lua"])
def test_a_changed_script(lua: Path, cache: str, file: str) -> None:
    """A script or a shared step that changes, even without changing its size, makes it all anew."""
    before = facts(scripts.remembered(cache))
    path = lua / file
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("-- ", "--X", 1), encoding="utf-8")
    os.utime(path, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns + 1))
    after = facts(scripts.remembered(cache))
    assert after == real()
    assert after["job_start"] != before["job_start"]


def test_an_installation_that_is_replaced(lua: Path, cache: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Installed files are known by their folders' times: an installer replaces files, which changes those."""
    monkeypatch.setattr(scripts, "CHECKOUT", "elsewhere")
    before = facts(scripts.remembered(cache))
    text = (lua / "lib/clock.lua").read_text(encoding="utf-8")
    (lua / "lib/clock.lua.new").write_text(text.replace("-- ", "--X", 1), encoding="utf-8")
    (lua / "lib/clock.lua.new").rename(lua / "lib/clock.lua")
    after = facts(scripts.remembered(cache))
    assert after == real()
    assert after["job_start"] != before["job_start"]


def test_an_installation_that_was_written_over(lua: Path, cache: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What no time shows is found out when a server asks for the text; the next start knows it."""
    monkeypatch.setattr(scripts, "CHECKOUT", "elsewhere")
    scripts.remembered(cache)
    known = scripts.remembered(cache)
    path = lua / "lib/clock.lua"
    path.write_text(path.read_text(encoding="utf-8").replace("-- ", "--X", 1), encoding="utf-8")
    assert facts(scripts.remembered(cache)) == facts(known)
    with pytest.raises(Unavailable, match="changed on disk"):
        known["job_start"].text  # noqa: B018 - reading it is what fails
    assert facts(scripts.remembered(cache)) == real()


def test_a_new_script_and_one_that_is_gone(lua: Path, cache: str) -> None:
    """Scripts that come and go are seen."""
    scripts.remembered(cache)
    (lua / "extra_verb.lua").write_text("local META = unpack(KEYS)\n", encoding="utf-8")
    (lua / "job_cancel.lua").unlink()
    assert set(scripts.remembered(cache)) == set(scripts.names())
    assert "extra_verb" in scripts.remembered(cache)


def test_another_place(tmp_path: Path, cache: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What another installation remembered, with the very same files, is not taken for this one's."""
    scripts.remembered(cache)
    other = tmp_path / "other"
    shutil.copytree(scripts.FOLDER, other)
    monkeypatch.setattr(scripts, "FOLDER", os.fspath(other))
    with pytest.raises(AssertionError, match="put together"):
        remembered_without_work(cache, monkeypatch)


DAMAGED: list[Any] = [
    b"", b"\0", b"garbage", b"\xff" * 100, marshal.dumps(5), marshal.dumps(None), marshal.dumps([]),
    marshal.dumps(([], {})), marshal.dumps("text"), marshal.dumps({}),
]  # fmt: skip


@pytest.mark.parametrize("content", [*DAMAGED, "cut", "facts", "names", "other python"], ids=str)
def test_a_damaged_file(cache: str, content: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is cut, empty, of another Python or holds something else is made anew, never believed or fatal."""
    scripts.remembered(cache)
    path = f"{cache}/scripts"
    with open(path, "rb") as file:
        whole = file.read()
    mark = marshal.loads(whole)[0]
    made = {
        "cut": whole[: len(whole) // 2],
        "facts": marshal.dumps((mark, {"job_start": 5})),
        "names": marshal.dumps((mark, ["job_start"])),
        "other python": b"\x7f" + whole[1:],
    }
    with open(path, "wb") as file:
        file.write(made.get(content, content) if isinstance(content, str) else content)
    assert facts(scripts.remembered(cache)) == real()
    assert facts(remembered_without_work(cache, monkeypatch)) == real()


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    """Without a place to remember in, the scripts are put together, and nothing is said."""
    file = tmp_path / "file"
    file.write_text("")
    for folder in (os.fspath(file), "/proc/nowhere", os.fspath(tmp_path / "missing" / "folder")):
        assert facts(scripts.remembered(folder)) == real()


def test_files_of_another_version(lua: Path, cache: str) -> None:
    """A process whose files were replaced under it can't send a script that wants other arguments: it is told to start
    again. What it has put together before it can still send."""
    scripts.remembered(cache)
    found = scripts.remembered(cache)
    early = found["job_start"].text
    for name in ("job_start", "job_beat"):
        text = (lua / f"{name}.lua").read_text(encoding="utf-8")
        (lua / f"{name}.lua").write_text(text.replace("unpack(ARGV)", "unpack(ARGV) -- new", 1), encoding="utf-8")
    (lua / "job_cancel.lua").unlink()
    assert found["job_start"].text == early
    for name in ("job_beat", "job_cancel"):
        with pytest.raises(Unavailable, match="changed on disk"):
            assert found[name].text


def test_binding_needs_no_text(cache: str) -> None:
    """The words of a call can be put together from what is remembered."""
    scripts.remembered(cache)
    script = scripts.remembered(cache)["board_sweep"]
    values = dict.fromkeys(script.args, "")
    assert script.bind(Keys("s"), values) == load("board_sweep").bind(Keys("s"), values)
