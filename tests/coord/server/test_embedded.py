"""The embedded server: one for all, nobody's child, safe from the end of whatever started it."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
import time

import pytest

from coord import home as homes
from coord.errors import Unavailable
from coord.home import Home
from coord.server import embedded, guard, pids, talk
from tests.servers import Server, need
from tests.waiting import until

START = """
import os, sys
from coord.home import Home
from coord.server import embedded
home = Home.find({"OMP_COORD_HOME": sys.argv[1]})
started = embedded.start(home, os.environ, wait=60.0)
print(started.url, started.already, started.notice, sep="|")
"""


def ask(home: Home, *words: str) -> object:
    return talk.ask(home.socket(), [words], 5.0)[0]


def script(home: Home, *before: str) -> list[str]:
    return [*before, sys.executable, "-c", START, home.root]


def alive(pid: int) -> bool:
    return pids.lives(pid, "")


def status(pid: int, name: str) -> str:
    with open(f"/proc/{pid}/status") as file:
        return next(line.split()[1] for line in file if line.startswith(name + ":"))


def test_start_settings_and_notice(home: Home, each: dict[str, str]) -> None:
    """The first start says what, where and how to stop it; it keeps an AOF, evicts nothing and has no
    port."""
    first = embedded.start(home, each)
    assert first.notice is not None
    for word in ("embedded", home.server(), "omp-coord server stop"):
        assert word in first.notice
    assert first.url == embedded.url(home) == "unix://" + home.socket()
    wanted = {
        "port": "0",
        "appendonly": "yes",
        "appendfsync": "everysec",
        "maxmemory-policy": "noeviction",
        "aof-load-truncated": "yes",
        "unixsocketperm": "700",
    }
    for name, value in wanted.items():
        assert ask(home, "CONFIG", "GET", name) == [name, value]
    clients = ask(home, "CONFIG", "GET", "maxclients")
    assert isinstance(clients, list)
    assert int(clients[1]) >= min(20000, os.sysconf("SC_OPEN_MAX") - 100)
    again = embedded.start(home, each)
    assert (again.already, again.notice, again.url) == (True, None, first.url)


def test_second_start_is_silent(home: Home, env: dict[str, str]) -> None:
    """Only the very first start in a home is said."""
    embedded.start(home, env)
    assert embedded.stop(home)
    started = embedded.start(home, env)
    assert (started.already, started.notice) == (False, None)


def test_ten_at_once_get_one(home: Home, env: dict[str, str]) -> None:
    """Ten processes that need it at the same time start one, all reach it, and one says so."""
    starters = [
        subprocess.Popen(script(home), env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(10)
    ]
    said = [starter.communicate(timeout=60) for starter in starters]
    answers = [out.strip().split("|") for out, err in said]
    assert [err for _, err in said] == [""] * 10
    assert {answer[0] for answer in answers} == {"unix://" + home.socket()}
    assert sorted(answer[1] for answer in answers) == ["False"] + ["True"] * 9
    assert sum(answer[2] != "None" for answer in answers) == 1
    with open(home.logs() + "/server.log") as file:
        assert file.read().count("ready to accept connections") == 1


def test_data_survives_kill(home: Home, each: dict[str, str]) -> None:
    """After kill -9 of the server the next start clears what it left and has its data."""
    embedded.start(home, each)
    ask(home, "SET", "a", "1")
    until(lambda: ask(home, "INFO", "persistence"), "it answers")
    ask(home, "CONFIG", "SET", "appendfsync", "always")
    ask(home, "SET", "b", "2")
    pid = pids.read(home)["server"]
    os.kill(pid, signal.SIGKILL)
    until(lambda: not alive(pid), "the server is gone")
    assert os.path.exists(home.socket())
    assert embedded.url(home) is None
    assert not embedded.start(home, each).already
    assert (ask(home, "GET", "a"), ask(home, "GET", "b")) == ("1", "2")
    assert pids.read(home)["server"] != pid


def test_cut_off_file_loads(home: Home, each: dict[str, str]) -> None:
    """An AOF that ends in the middle of a command (kill -9, power cut) loads up to there."""
    embedded.start(home, each)
    ask(home, "SET", "a", "1")
    embedded.stop(home)
    files = [
        os.path.join(folder, name)
        for folder, _, names in os.walk(home.server())
        for name in names
        if name.endswith(".aof")
    ]
    assert len(files) == 1
    with open(files[0], "ab") as file:
        file.write(b"*3\r\n$3\r\nSET\r\n$1\r\nb")
    embedded.start(home, each)
    assert ask(home, "GET", "a") == "1"


def test_stop_keeps_data_and_leaves_nothing(home: Home, each: dict[str, str]) -> None:
    """Stopping ends server and guard, removes the socket, keeps the data; a second stop finds nothing."""
    embedded.start(home, each)
    ask(home, "SET", "a", "1")
    before = list(pids.read(home).values())
    assert len(before) == 2
    assert embedded.stop(home)
    assert not any(map(alive, before))
    assert not os.path.exists(home.socket())
    assert not embedded.stop(home)
    embedded.start(home, each)
    assert ask(home, "GET", "a") == "1"


def test_command_substitution_returns(home: Home, env: dict[str, str]) -> None:
    """`x=$(command that starts it)` as the very first call returns although the server lives on."""
    line = f'x=$({" ".join(map(repr, script(home)[:1]))} -c "$1" "$2"); echo "got $x"'
    out = subprocess.run(
        ["bash", "-c", line, "bash", START, home.root],
        env=env,
        stdout=subprocess.PIPE,
        text=True,
        timeout=90,
        check=True,
    ).stdout
    assert out.startswith("got unix://")
    assert embedded.url(home) is not None


def test_nothing_is_inherited(home: Home, env: dict[str, str]) -> None:
    """Neither process holds a descriptor, terminal, signal mask, ignored signal or variable of whoever
    started it."""
    reader, writer = os.pipe()
    os.set_inheritable(writer, True)
    code = "import signal as s, os, sys\n" + textwrap.dedent(
        """
        s.pthread_sigmask(s.SIG_BLOCK, {s.SIGTERM, s.SIGINT, s.SIGUSR1})
        s.signal(s.SIGTERM, s.SIG_IGN)
        os.umask(0)
        """
    )
    subprocess.run(
        [sys.executable, "-c", code + START, home.root],
        env={**env, "OMP_COORD_JOB": "j1", "MY_TOKEN": "hush"},
        pass_fds=[writer],
        stdout=subprocess.DEVNULL,
        check=True,
        timeout=90,
    )
    os.close(writer)
    assert os.read(reader, 1) == b"", "an end of the pipe is still open somewhere"
    os.close(reader)
    log = home.logs() + "/server.log"
    for pid in pids.read(home).values():
        links = {number: os.readlink(f"/proc/{pid}/fd/{number}") for number in os.listdir(f"/proc/{pid}/fd")}
        assert (links["0"], links["1"], links["2"]) == ("/dev/null", log, log)
        assert int(status(pid, "SigBlk"), 16) == 0
        assert int(status(pid, "SigIgn"), 16) & (1 << (signal.SIGTERM - 1)) == 0
        assert os.getsid(pid) != os.getsid(0)
        assert os.readlink(f"/proc/{pid}/cwd") == home.server()
        with open(f"/proc/{pid}/environ", "rb") as file:
            inherited = file.read()
        assert b"OMP_COORD" not in inherited
        assert b"hush" not in inherited
    for folder, _, names in os.walk(home.root):
        for name in names:
            assert os.lstat(os.path.join(folder, name)).st_mode & 0o077 == 0, name


def test_nobodys_child(home: Home, env: dict[str, str]) -> None:
    """It is no child of its starter, and a descendant of a subreaper above it is known by `server_pids`."""
    starter = subprocess.Popen(script(home), env=env, stdout=subprocess.DEVNULL)
    starter.wait(90)
    found = pids.read(home)
    assert set(found) == {"server", "guard"}
    assert pids.server_pids(home) >= set(found.values())
    for pid in found.values():
        assert int(status(pid, "PPid")) not in (starter.pid, os.getpid())


def test_killing_the_starters_group_leaves_it(home: Home, env: dict[str, str]) -> None:
    """KILL to the whole process group and session in which it was started does not touch it."""
    starter = subprocess.Popen(
        [sys.executable, "-c", START + "\nsys.stdout.flush(); sys.stdin.read()", home.root],
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert starter.stdout is not None
    assert starter.stdout.readline().startswith(b"unix://")
    os.killpg(starter.pid, signal.SIGKILL)
    starter.communicate()
    assert ask(home, "PING") == "PONG"


def test_reused_pid_is_not_ours(home: Home, env: dict[str, str]) -> None:
    """A pid on file that the system gave to another process is neither spared nor killed."""
    home.server()
    with open(pids.path(home), "w") as file:
        file.write(f"server {os.getpid()} 1\nguard {os.getpid()} 1\n")
    assert pids.server_pids(home) == set()
    assert not embedded.start(home, env).already


def test_few_descriptors(home: Home, env: dict[str, str]) -> None:
    """Where the hard limit allows fewer descriptors it starts with the clients that fit."""
    subprocess.run(
        ["bash", "-c", 'ulimit -n 400; exec "$@"', "bash", *script(home)],
        env={**env, "OMP_COORD_REDIS_SERVER": need("redis7")},
        stdout=subprocess.DEVNULL,
        check=True,
        timeout=90,
    )
    assert ask(home, "PING") == "PONG"


def test_soft_limits_are_raised(home: Home, env: dict[str, str]) -> None:
    """Soft limits of the shell that came first (time, files) don't become the server's."""
    subprocess.run(
        ["bash", "-c", 'ulimit -S -n 256 -t 100 -f 10; exec "$@"', "bash", *script(home)],
        env=env,
        stdout=subprocess.DEVNULL,
        check=True,
        timeout=90,
    )
    with open(f"/proc/{pids.read(home)['server']}/limits") as file:
        limits = {line[:26].strip(): line[26:].split()[0] for line in file}
    assert limits["Max cpu time"] == limits["Max file size"] == "unlimited"
    assert int(limits["Max open files"]) > 256


@pytest.mark.parametrize("name", ["d" * 120, "a b%20c?d#e@f", "ü'\"\\", "a\nb"])
def test_odd_places(folder: str, env: dict[str, str], name: str) -> None:
    """It runs with its folder in a place too deep for a socket, or with characters that mean something in
    URLs."""
    from coord.wire import connect

    home = Home.find({"OMP_COORD_HOME": f"{folder}/{name}", "XDG_RUNTIME_DIR": folder})
    try:
        url = embedded.start(home, env).url
        assert url.count("\n") == 0  # the scope's record has it on a line
        link = connect(url)
        assert link.call("PING") == "PONG"
        link.close()
    finally:
        embedded.stop(home, force=True)


def test_foreign_folder_is_never_opened(home: Home, env: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A server folder or socket that belongs to another user is not connected to and not started in."""
    embedded.start(home, env)
    uid = os.geteuid()
    monkeypatch.setattr(homes.os, "geteuid", lambda: uid + 1)
    assert embedded.url(home) is None
    with pytest.raises(Unavailable, match="belongs to another user"):
        embedded.start(home, env)
    monkeypatch.undo()


def test_foreign_process_on_the_socket(home: Home, env: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A process of another user that listens on our socket is not spoken to."""
    embedded.start(home, env)
    socket = home.socket()
    monkeypatch.setattr(talk.os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(PermissionError, match="runs as another user"):
        talk.ask(socket, [("PING",)], 1.0, own=True)
    monkeypatch.undo()


def test_stopped_server_is_not_doubled(home: Home, env: dict[str, str]) -> None:
    """While the server is there but does not answer no second one is started on its files; --force ends
    it."""
    embedded.start(home, env)
    pid = pids.read(home)["server"]
    os.kill(pid, signal.SIGSTOP)
    with pytest.raises(Unavailable, match="does not answer"):
        embedded.start(home, env, wait=1.5)
    with pytest.raises(Unavailable, match="does not end"):
        embedded.stop(home, wait=0.3)
    assert embedded.stop(home, wait=0.3, force=True)
    assert not alive(pid)


def test_lost_socket(home: Home, env: dict[str, str]) -> None:
    """A server whose socket was removed is ended, and one that can be reached takes its place with its
    data."""
    embedded.start(home, env)
    ask(home, "SET", "a", "1")
    pid = pids.read(home)["server"]
    os.unlink(home.socket())
    assert not embedded.start(home, env, wait=30.0).already
    assert not alive(pid)
    assert ask(home, "GET", "a") == "1"


def test_removed_state_folder(home: Home, env: dict[str, str]) -> None:
    """Nobody who comes new can reach a server whose folder was removed: its guard ends it, so that those who are
    connected go where the others are."""
    embedded.start(home, env, idle=1.0)
    found = pids.read(home)
    shutil.rmtree(home.root)
    until(lambda: not any(map(alive, found.values())), "server and guard are gone", 15)


def test_successor_of_a_removed_folder(home: Home, env: dict[str, str]) -> None:
    """The server that took its place at the same path stays, and can be reached, when the cut-off one is ended."""
    embedded.start(home, env, idle=5.0)
    old = pids.read(home)
    shutil.rmtree(home.root)
    assert not embedded.start(home, env, idle=60.0).already
    new = pids.read(home)
    until(lambda: not any(map(alive, old.values())), "the old server and its guard are gone", 15)
    assert ask(home, "PING") == "PONG"
    assert all(map(alive, new.values()))


@pytest.mark.parametrize("before", [None, (1, 2)], ids=["none yet", "that of a server killed before"])
def test_a_socket_that_is_made_while_its_guard_connects(
    folder: str, monkeypatch: pytest.MonkeyPatch, before: tuple[int, int] | None
) -> None:
    """A guard that looked for the socket a moment before its server made it does not take the server for a cut-off one."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"{folder}/socket")
        server.listen()
        watching = guard.Guard(f"{folder}/socket", "", "", 60.0, (os.getpid(), guard.started(os.getpid())))
        looks, real = iter([before]), watching.place_of
        monkeypatch.setattr(watching, "place_of", lambda: next(looks, real()))
        watching.connect()
        assert not watching.cut_off()
        watching.connect()
        assert watching.sock is not None
        assert not watching.cut_off()
        watching.disconnect()


def test_no_room_for_more_clients(home: Home, env: dict[str, str]) -> None:
    """A server that takes no more clients runs: it is neither called gone nor ended."""
    embedded.start(home, env)
    pid = pids.read(home)["server"]
    ask(home, "CONFIG", "SET", "maxclients", "1")
    assert embedded.url(home)
    assert embedded.start(home, env).already
    assert alive(pid)


@pytest.mark.parametrize("content", [b"\xff\xfe\0", b"", b"server\nguard x y\n\n"])
def test_damaged_pids(home: Home, env: dict[str, str], content: bytes) -> None:
    """A file of pids with something else in it is the same as none."""
    home.server()
    with open(pids.path(home), "wb") as file:
        file.write(content)
    assert not embedded.start(home, env).already
    assert set(pids.read(home)) == {"server", "guard"}


def test_half_of_pids(home: Home, env: dict[str, str]) -> None:
    """A file of pids of which only the server's line is whole: the server gets a new guard."""
    embedded.start(home, env)
    found = pids.read(home)
    os.kill(found["guard"], signal.SIGKILL)
    with open(pids.path(home), "rb") as file:
        first = file.read().splitlines(keepends=True)[0]
    assert first.startswith(b"server ")
    with open(pids.path(home), "wb") as file:
        file.write(first + b"gua")
    assert embedded.start(home, env).already
    until(lambda: set(pids.read(home)) == {"server", "guard"}, "there is a guard")
    assert pids.read(home)["server"] == found["server"]


def test_notice_is_one_line(folder: str, env: dict[str, str]) -> None:
    """Whatever stands in the state folder's name, what is said of it is one line."""
    home = Home.find({"OMP_COORD_HOME": f"{folder}/a\n\x1b[31mb"})
    try:
        notice = embedded.start(home, env).notice
        assert notice is not None
        assert notice.isprintable()
    finally:
        embedded.stop(home, force=True)


def test_program_that_fails(home: Home, env: dict[str, str], folder: str) -> None:
    """A program that ends at once: the error has its last words and where its log is."""
    path = folder + "/server"
    with open(path, "w") as file:
        file.write('#!/bin/sh\n[ "$1" = --version ] && echo "Redis server v=7.0.0" || echo "no can do" >&2\n')
    os.chmod(path, 0o755)
    with pytest.raises(Unavailable, match=r"did not start: no can do .*server\.log"):
        embedded.start(home, {**env, "OMP_COORD_REDIS_SERVER": path})
    until(lambda: pids.read(home) == {}, "no guard is left")


def test_data_stays_with_its_program(home: Home, env: dict[str, str]) -> None:
    """With another kind of server on PATH the one that wrote the data is started again, unless one is
    named."""
    embedded.start(home, {**env, "OMP_COORD_REDIS_SERVER": need("valkey9")})
    ask(home, "SET", "a", "1")
    embedded.stop(home)
    path = {**env, "PATH": os.path.dirname(need("redis7"))}
    embedded.start(home, path)
    info = ask(home, "INFO", "server")
    assert "valkey_version:9" in str(info)
    assert ask(home, "GET", "a") == "1"


def test_newer_program_takes_over(home: Home, env: dict[str, str]) -> None:
    """An update of the same kind of server is used, with the data of the older one."""
    embedded.start(home, {**env, "OMP_COORD_REDIS_SERVER": need("redis6")})
    ask(home, "SET", "a", "1")
    embedded.stop(home)
    embedded.start(home, {**env, "PATH": os.path.dirname(need("redis7"))})
    assert "redis_version:7" in str(ask(home, "INFO", "server"))
    assert ask(home, "GET", "a") == "1"


def test_guard_stops_the_idle(home: Home, each: dict[str, str]) -> None:
    """Without clients for its time the server is stopped, with its data, and neither process is left."""
    from coord.wire import connect

    with contextlib.closing(connect(embedded.start(home, each, idle=0.5).url)) as link:  # from here on it is in use
        link.call("SET", "a", "1")
        before = list(pids.read(home).values())
    until(lambda: not any(map(alive, before)), "server and guard are gone")
    assert not os.path.exists(home.socket())
    embedded.start(home, each)
    assert ask(home, "GET", "a") == "1"


def test_guard_spares_the_used(home: Home, each: dict[str, str]) -> None:
    """A client that only waits keeps the server up for many times the idle time; after it leaves, it
    stops."""
    from coord.wire import connect

    link = connect(embedded.start(home, each, idle=0.2).url)
    guard = pids.read(home)["guard"]
    looks = f"/proc/{guard}/stat"
    end = time.monotonic() + 1.2
    until(lambda: time.monotonic() > end, "six idle times have passed")
    assert os.path.exists(looks)
    assert link.call("PING") == "PONG"
    server = pids.read(home)["server"]
    link.close()
    until(lambda: not alive(server), "the server is stopped")


def test_guard_counts_short_visits(home: Home, env: dict[str, str]) -> None:
    """Clients that come and go between two looks of the guard are use."""
    embedded.start(home, env, idle=1.0)
    server = pids.read(home)["server"]
    end = time.monotonic() + 4.0
    until(lambda: ask(home, "PING") != "PONG" or time.monotonic() > end, "four idle times have passed")
    assert alive(server)


def test_guard_goes_with_its_server(home: Home, env: dict[str, str]) -> None:
    """A guard does not outlive its server by more than a moment, however that ended."""
    embedded.start(home, env)
    found = pids.read(home)
    os.kill(found["server"], signal.SIGKILL)
    until(lambda: not alive(found["guard"]), "the guard is gone")


def test_lost_guard_is_replaced(home: Home, env: dict[str, str]) -> None:
    """Whoever looks for the server next gives it a new guard, which knows it."""
    embedded.start(home, env)
    found = pids.read(home)
    os.kill(found["guard"], signal.SIGKILL)
    until(lambda: not alive(found["guard"]), "the guard is gone")
    assert embedded.start(home, env).already
    again = pids.read(home)
    assert again["server"] == found["server"]
    assert again["guard"] != found["guard"]
    os.kill(again["server"], signal.SIGKILL)
    until(lambda: not alive(again["guard"]), "the new guard is gone")


def test_log_is_rotated(home: Home, env: dict[str, str]) -> None:
    """A log over 1 MB is moved away by the guard; three are kept at most."""
    log = home.logs() + "/server.log"
    for name in (log, log + ".1", log + ".2"):
        with open(name, "w") as file:
            file.write(name[-1] * 1_000_001)
    embedded.start(home, env, idle=2.0)
    until(lambda: os.stat(log).st_size < 1_000_000 if os.path.exists(log) else True, "the full log is moved")
    assert len([name for name in os.listdir(home.logs()) if name.startswith("server.log")]) <= 3
    with open(log + ".1") as file:
        assert file.read(10) == "g" * 10
    with open(log + ".2") as file:
        assert file.read(10) == "1" * 10


def test_servers_of_others_are_not_taken_for_it(home: Home, folder: str, env: dict[str, str]) -> None:
    """A server that somebody else runs in the same place's neighbourhood is not found by `url`."""
    os.mkdir(folder + "/other")
    with Server("redis7", folder=folder + "/other"):
        assert embedded.url(home) is None
