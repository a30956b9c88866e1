"""Where files are kept, and what is never touched."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from threading import Thread

import pytest

from coord import home as homes
from coord import private as privates
from coord.home import Home
from coord.private import own_socket, private
from tests.servers import short_folder


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    path = short_folder()
    monkeypatch.setattr(homes, "_TEMPS", (path + "/temp",))
    os.mkdir(path + "/temp")
    yield path
    os.chmod(path, 0o700)
    shutil.rmtree(path)


def mode(path: str) -> int:
    return stat.S_IMODE(os.stat(path).st_mode)


@pytest.mark.parametrize(
    ("env", "root"),
    [
        ({"OMP_COORD_HOME": "{}/a", "XDG_STATE_HOME": "{}/b", "HOME": "{}/c"}, "{}/a"),
        ({"XDG_STATE_HOME": "{}/b", "HOME": "{}/c"}, "{}/b/omp-coord"),
        ({"XDG_STATE_HOME": "relative", "HOME": "{}/c"}, "{}/c/.local/state/omp-coord"),
        ({"HOME": "{}/c"}, "{}/c/.local/state/omp-coord"),
    ],
)
def test_order(folder: str, env: dict[str, str], root: str) -> None:
    """OMP_COORD_HOME, then an absolute XDG_STATE_HOME, then HOME; and looking makes nothing."""
    found = Home.find({name: value.format(folder) for name, value in env.items()})
    assert (found.root, found.reason, found.notice) == (root.format(folder), None, None)
    assert os.listdir(folder) == ["temp"]


def test_folders_are_private(folder: str) -> None:
    """Every folder handed out exists, is 0700 on the way down, and what is per machine lies in the machine's
    folder."""
    found = Home.find({"OMP_COORD_HOME": folder + "/a/b"})
    for path in (found.scopes(), found.epochs(), found.logs(), found.server()):
        assert os.path.dirname(path) == found.machine
        assert mode(path) == 0o700
    for path in (found.cache(), found.trust(), found.machine):
        assert os.path.dirname(path) == found.root
        assert mode(path) == 0o700
    assert mode(found.root) == mode(folder + "/a") == 0o700


def test_machine_id_is_not_shown(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine's folder stays the same for one machine id, differs for another, and does not show it."""
    ids = []
    for text in ("0123456789abcdef", "0123456789abcdef", "fedcba", "uninitialized"):
        with open(folder + "/id", "w") as file:
            file.write(text + "\n")
        monkeypatch.setattr(homes, "_MACHINE_IDS", (folder + "/id",))
        ids.append(Home.find({"OMP_COORD_HOME": folder + "/a"}).machine)
    assert ids[0] == ids[1]
    assert len(set(ids)) == 3
    assert "0123" not in ids[0].rpartition("/")[2]


def test_an_open_home_is_closed(folder: str) -> None:
    """A state folder of ours that others may enter is made 0700 before anything is put in it."""
    os.mkdir(folder + "/a", 0o755)
    found = Home.find({"OMP_COORD_HOME": folder + "/a"})
    assert found.reason is None
    assert mode(folder + "/a") == 0o700


def test_home_unset_meets_in_a_temp_folder(folder: str) -> None:
    """Without HOME two calls use one private temp folder, and only the first is told so."""
    first, second = Home.find({}), Home.find({})
    assert first.root == second.root
    assert mode(first.root) == 0o700
    assert first.notice is not None
    assert "HOME is not set" in first.notice
    assert first.root in first.notice
    assert second.notice is None
    assert second.reason == "HOME is not set"


def test_runtime_folder_before_temp(folder: str) -> None:
    """The temp folder is made under XDG_RUNTIME_DIR when that is ours."""
    os.mkdir(folder + "/run", 0o700)
    assert os.path.dirname(Home.find({"XDG_RUNTIME_DIR": folder + "/run"}).root) == folder + "/run"


def test_foreign_home_is_left_alone(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under sudo, with HOME still the user's, nothing is written there."""
    os.mkdir(folder + "/home")
    os.mkdir(folder + "/temp/mine", 0o700)
    real = os.stat

    class Foreign:
        def __init__(self, info: os.stat_result) -> None:
            self.st_mode, self.st_uid = info.st_mode, 4242

    def fake_stat(path: str, **more: bool) -> object:
        return Foreign(real(path, **more)) if path == folder + "/home" else real(path, **more)

    monkeypatch.setattr(homes.os, "stat", fake_stat)
    found = Home.find({"HOME": folder + "/home"})
    assert found.reason == f"{folder}/home belongs to another user"
    found.cache()
    assert os.listdir(folder + "/home") == []


def test_read_only_home(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home that cannot be written is replaced by the temp folder."""
    os.mkdir(folder + "/home", 0o500)
    # Told by the system call, not by the mode: root may write in any folder, and nobody on a read-only disk.
    monkeypatch.setattr(homes.os, "access", lambda path, mode: not path.startswith(folder + "/home"))
    reason = Home.find({"HOME": folder + "/home"}).reason
    assert reason is not None
    assert "cannot be written" in reason


def test_home_in_the_way(folder: str) -> None:
    """A file where the state folder should be is no reason to fail."""
    with open(folder + "/file", "w"):
        pass
    assert Home.find({"OMP_COORD_HOME": folder + "/file"}).reason == f"{folder}/file is not a folder"
    assert Home.find({"OMP_COORD_HOME": folder + "/file/below"}).reason is not None


def test_planted_link_is_not_followed(folder: str) -> None:
    """A link under the temp folder's name is passed over: it could lead into any folder of ours."""
    os.mkdir(folder + "/precious", 0o755)
    os.symlink(folder + "/precious", f"{folder}/temp/omp-coord-{os.geteuid()}")
    found = Home.find({})
    found.cache()
    assert found.root == f"{folder}/temp/omp-coord-{os.geteuid()}-1"
    assert os.listdir(folder + "/precious") == []
    assert mode(folder + "/precious") == 0o755


def test_own_link_is_followed(folder: str) -> None:
    """A state folder that its user moved to another disk by a link works."""
    os.mkdir(folder + "/disk", 0o700)
    os.symlink(folder + "/disk", folder + "/link")
    found = Home.find({"OMP_COORD_HOME": folder + "/link"})
    assert found.reason is None
    assert os.path.isdir(found.cache())


def test_foreign_folder_is_refused(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that turns out to be another user's is never handed out."""
    os.mkdir(folder + "/a", 0o700)
    monkeypatch.setattr(privates.os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(PermissionError, match="belongs to another user"):
        private(folder + "/a")


def test_nowhere_to_write(folder: str) -> None:
    """With no place at all finding a home still does not raise, and using it is an OSError."""
    shutil.rmtree(folder + "/temp")
    os.environ["TMPDIR"] = "/nonexistent"
    try:
        found = Home.find({"OMP_COORD_HOME": "/proc/omp-coord"})
    finally:
        del os.environ["TMPDIR"]
    with pytest.raises(OSError):
        found.cache()


def test_socket_path_that_fits(folder: str) -> None:
    """A short home has the socket in the server's folder."""
    found = Home.find({"OMP_COORD_HOME": folder + "/a"})
    assert found.socket() == found.server() + "/redis.sock"


def test_long_socket_path_is_agreed_on(folder: str) -> None:
    """A home too deep for a socket: one short, private place for all, whatever their environments say."""
    os.mkdir(folder + "/run", 0o700)
    deep = {"OMP_COORD_HOME": folder + "/" + "d" * 100}
    first = Home.find({**deep, "XDG_RUNTIME_DIR": folder + "/run"}).socket()
    second = Home.find(deep).socket()
    assert first == second
    assert len(first) <= 100
    assert mode(os.path.dirname(first)) == 0o700
    assert Home.find({"OMP_COORD_HOME": folder + "/" + "e" * 100}).socket() != first


def test_lost_socket_place_is_replaced(folder: str) -> None:
    """When the agreed place can't be had any more (a logout, a new boot), a new one is agreed on."""
    os.mkdir(folder + "/run", 0o700)
    deep = {"OMP_COORD_HOME": folder + "/" + "d" * 100}
    first = Home.find({**deep, "XDG_RUNTIME_DIR": folder + "/run"}).socket()
    shutil.rmtree(folder + "/run")
    with open(folder + "/run", "w"):
        pass
    second = Home.find(deep).socket()
    assert second != first
    assert Home.find(deep).socket() == second


def test_only_own_sockets(folder: str) -> None:
    """A file, a socket in an open folder that cannot be closed, or nothing at all is not taken for our
    socket."""
    assert not own_socket(folder + "/none")
    with open(folder + "/file", "w"):
        pass
    assert not own_socket(folder + "/file")


@pytest.fixture
def shut() -> Iterator[None]:
    """A umask that takes every right away, also ours."""
    before = os.umask(0o777)
    yield
    os.umask(before)


@pytest.mark.usefixtures("shut")
def test_a_umask_does_not_shut_us_out(folder: str) -> None:
    """Folders and files are 0700 and 0600 also under a umask that would keep their owner out of them."""
    found = Home.find({"OMP_COORD_HOME": folder + "/a/b"})
    for path in (found.scopes(), found.cache(), folder + "/a"):
        assert mode(path) == 0o700
    privates.write(found.cache() + "/one", "text")
    os.close(privates.create(found.cache() + "/two", os.O_WRONLY))
    assert mode(found.cache() + "/one") == mode(found.cache() + "/two") == 0o600


def test_threads_write_the_same_file(folder: str) -> None:
    """Each of several threads that write one file writes it whole, and none meets another's half."""
    path = folder + "/file"
    contents = [bytes([number]) * 20_000 for number in range(4)]
    privates.write(path, contents[0])
    faults: list[object] = []

    def write(content: bytes) -> None:
        for _ in range(50):
            try:
                privates.write(path, content)
                with open(path, "rb") as file:
                    faults.extend([] if file.read() in contents else ["torn"])
            except OSError as error:
                faults.append(error)

    threads = [Thread(target=write, args=(content,)) for content in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert faults == []
    assert sorted(os.listdir(folder)) == ["file", "temp"]


def test_write_is_whole_or_not_at_all(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that takes only a part of what is written leaves the old file, and nothing beside it."""
    path, real = folder + "/file", os.write
    privates.write(path, "old")
    monkeypatch.setattr(privates.os, "write", lambda fd, data: real(fd, data[:3]))
    privates.write(path, "taken in parts")
    room = iter([3])

    def full(fd: int, data: bytes) -> int:
        if (left := next(room, 0)) == 0:
            raise OSError(28, "No space left on device")
        return real(fd, data[:left])

    monkeypatch.setattr(privates.os, "write", full)
    with pytest.raises(OSError, match="No space left"):
        privates.write(path, "never seen")
    with open(path) as file:
        assert file.read() == "taken in parts"
    assert sorted(os.listdir(folder)) == ["file", "temp"]
