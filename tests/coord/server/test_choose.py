"""Where a scope lives: the order, and that all stay and move together."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from coord.config.settings import Settings
from coord.errors import ConfigError, Elsewhere, Unavailable
from coord.home import Home
from coord.keys import Keys
from coord.server import choose as chooser
from coord.server import decide, embedded, pids, record
from coord.server.choose import choose, follow, rechoose
from tests.servers import Server, free_port, short_folder
from tests.waiting import until

Fake = Callable[[bytes], str]
Env = dict[str, str]


@pytest.fixture
def place() -> Iterator[str]:
    import shutil

    path = short_folder()
    yield path
    shutil.rmtree(path)


@pytest.fixture
def other(place: str) -> Iterator[Server]:
    with Server("redis7", folder=place) as running:
        yield running


@pytest.fixture
def local(other: Server, env: Env, monkeypatch: pytest.MonkeyPatch) -> Server:
    """A server that stands on the local port."""
    monkeypatch.setattr(decide, "LOCAL_URL", other.tcp)
    return other


def age(home: Home, seconds: float) -> None:
    """Makes the record look as if it was last looked at that long ago."""
    path = record.path(home, "app")
    now = os.stat(path).st_mtime
    os.utime(path, (now - seconds, now - seconds))


def move_in(url: str, home: Home, scope: str = "app") -> None:
    """Somebody of the scope lives there now."""
    from coord.wire import connect

    link = connect(url)
    link.call("ZADD", Keys(scope).leases, 1, "j|somebody")
    link.close()


def move_out(url: str, scope: str = "app") -> None:
    from coord.wire import connect

    link = connect(url)
    link.call("DEL", Keys(scope).leases)
    link.close()


def test_embedded_when_there_is_nothing_else(settings: Settings, home: Home, env: Env) -> None:
    """With nothing named and nothing on 6379 the embedded server is started, said, and written down."""
    choice = choose(settings, home, env)
    assert choice.url == embedded.url(home)
    assert (choice.embedded, choice.fresh_allowed) == (True, True)
    assert len(choice.notices) == 1
    again = choose(settings, home, env)
    assert (again.url, again.embedded, again.notices) == (choice.url, True, [])


def test_a_hit_looks_at_no_server(settings: Settings, home: Home, env: Env, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the record is young and the socket there, no connection is made and nothing heavy is imported."""
    choose(settings, home, env)
    monkeypatch.setattr(decide, "decide", None)
    assert choose(settings, home, env).embedded
    code = """if True:
        import os, sys
        from coord.home import Home
        from coord.server.choose import choose
        class Settings: scope, redis_url, trusted = "app", None, True
        before = set(sys.modules)
        assert choose(Settings(), Home.find({"OMP_COORD_HOME": sys.argv[1]}), {}).embedded
        heavy = {"re", "json", "typing", "enum", "socket", "subprocess", "hashlib", "contextlib", "tempfile", "redis"}
        print(sorted(heavy & set(sys.modules)), sorted(set(sys.modules) - before))
    """
    said = subprocess.run(
        [sys.executable, "-S", "-c", code, home.root],
        capture_output=True,
        text=True,
        check=True,
        env={**env, "PYTHONPATH": os.getcwd()},
    )
    assert said.stdout == "[] []\n"


def test_reading_starts_and_writes_nothing(settings: Settings, home: Home, env: Env) -> None:
    """A reading command with no server gets no URL, and leaves no server and no record."""
    choice = choose(settings, home, env, start=False)
    assert (choice.url, choice.embedded) == (None, False)
    assert not os.path.exists(home.root)
    url = choose(settings, home, env).url
    os.unlink(record.path(home, "app"))
    assert choose(settings, home, env, start=False).url == url
    assert record.read(home, "app") is None


def test_local_server_is_found(settings: Settings, home: Home, env: Env, local: Server) -> None:
    """A server on the local port comes before the embedded one, which is not started."""
    choice = choose(settings, home, env)
    assert (choice.url, choice.embedded, choice.fresh_allowed) == (local.tcp, False, False)
    assert pids.read(home) == {}


@pytest.mark.parametrize(
    ("unfit", "why"),
    [
        (b"CONFIG SET requirepass x", "wants a password"),
        (b"CONFIG SET maxmemory-policy volatile-ttl", "may evict keys (maxmemory-policy volatile-ttl)"),
        (b"HSET coord:{app}:meta uid 99999", "has a board of this scope that another user made (uid 99999)"),
    ],
)
def test_unfit_local_server_is_skipped(
    settings: Settings, home: Home, env: Env, local: Server, unfit: bytes, why: str
) -> None:
    """A local server that wants a password, evicts, or holds another user's board is passed over, with the
    reason kept for `doctor`."""
    local.send(unfit)
    assert choose(settings, home, env).embedded
    known = record.read(home, "app")
    assert known is not None
    assert known.skipped == why


@pytest.mark.parametrize("answer", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b""])
def test_strange_local_server_is_skipped(
    settings: Settings, home: Home, env: Env, fake: Fake, monkeypatch: pytest.MonkeyPatch, answer: bytes
) -> None:
    """What is no Redis, or says nothing, on the local port is passed over, and not looked at again for a
    minute."""
    monkeypatch.setattr(decide, "LOCAL_URL", fake(answer))
    assert choose(settings, home, env).embedded
    age(home, 30)
    monkeypatch.setattr(decide, "decide", None)
    assert choose(settings, home, env).embedded


def test_named_order(settings: Settings, home: Home, env: Env, other: Server) -> None:
    """--redis before the environment before the file; each is taken as it is."""
    settings.redis_url = f"redis://127.0.0.1:{free_port()}"
    bad = {**env, "OMP_COORD_REDIS_URL": f"redis://127.0.0.1:{free_port()}"}
    assert choose(settings, home, bad, url=other.url).url == other.url
    os.unlink(record.path(home, "app"))
    assert choose(settings, home, {**env, "OMP_COORD_REDIS_URL": other.url}).url == other.url
    os.unlink(record.path(home, "app"))
    settings.redis_url = other.url
    assert choose(settings, home, env).url == other.url


def test_named_and_dead_is_not_replaced(settings: Settings, home: Home, env: Env) -> None:
    """A server asked for by name that does not run is an error; the embedded one does not step in."""
    url = f"redis://user:secret@127.0.0.1:{free_port()}"
    with pytest.raises(Unavailable, match="nothing listens there") as caught:
        choose(settings, home, env, url=url)
    assert "secret" not in str(caught.value)
    with pytest.raises(Unavailable):
        choose(settings, home, env, url=url, start=False)
    assert pids.read(home) == {}
    assert record.read(home, "app") is None


def test_malformed_url(settings: Settings, home: Home, env: Env) -> None:
    """A malformed URL is a configuration error."""
    with pytest.raises(ConfigError, match="not a server URL"):
        choose(settings, home, env, url="http://x")


def test_named_that_evicts_is_flagged(settings: Settings, home: Home, env: Env, other: Server) -> None:
    """A named server that may evict is used, and said to be wrong."""
    other.send(b"CONFIG SET maxmemory-policy allkeys-lru")
    choice = choose(settings, home, env, url=other.url)
    assert choice.url == other.url
    assert "allkeys-lru" in choice.notices[0]


def test_untrusted_is_not_used(settings: Settings, home: Home, env: Env) -> None:
    """A file's server on another machine is not used before it is trusted, and that is said each time."""
    settings.path, settings.redis_url, settings.trusted = "/p/.omp-coord.json", "redis://:pw@far.example", False
    for _ in range(2):
        choice = choose(settings, home, env)
        assert choice.embedded
        assert "redis://far.example" in choice.notices[-1]
        assert "omp-coord config trust" in choice.notices[-1]


def test_elsewhere(settings: Settings, home: Home, env: Env, other: Server) -> None:
    """While somebody of the scope lives on one server, asking for another by name is an error that says
    where, and whoever goes on goes there; when nobody lives there any more the scope moves."""
    first = choose(settings, home, env)
    assert first.url is not None
    move_in(first.url, home)
    with pytest.raises(Elsewhere, match="the scope app lives on unix://") as caught:
        choose(settings, home, env, url=other.url)
    assert caught.value.url == first.url
    followed = follow(settings, home, caught.value)
    assert (followed.url, followed.embedded) == (first.url, True)
    assert "going where it lives" in followed.notices[0]
    os.unlink(record.path(home, "app"))
    with pytest.raises(Elsewhere):
        choose(settings, home, env, url=other.url)
    move_out(first.url)
    assert choose(settings, home, env, url=other.url).url == other.url


def test_same_server_under_another_name(settings: Settings, home: Home, env: Env, other: Server) -> None:
    """localhost, 127.0.0.1, /0 and other credentials are the same place, not elsewhere."""
    other.send(b"ACL SETUSER me on >pw ~* &* +@all")
    choose(settings, home, env, url=other.tcp)
    move_in(other.url, home)
    for url in (f"redis://localhost:{other.port}", other.tcp + "/0", f"redis://me:pw@127.0.0.1:{other.port}"):
        assert choose(settings, home, env, url=url).url == url
    with pytest.raises(Elsewhere):
        choose(settings, home, env, url=other.tcp + "/1")


def test_unnamed_goes_where_the_scope_lives(settings: Settings, home: Home, env: Env, other: Server) -> None:
    """Who names no server goes to the one that somebody named, as long as somebody lives there."""
    choose(settings, home, env, url=other.url)
    move_in(other.url, home)
    age(home, 100)
    assert choose(settings, home, env).url == other.url
    move_out(other.url)
    age(home, 100)
    assert choose(settings, home, env).embedded


def test_embedded_yields_when_nobody_lives_there(
    settings: Settings, home: Home, env: Env, other: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A local server that comes up later gets the scope once nobody lives on the embedded one, and one line
    says so; it is looked for at most every 10 s."""
    first = choose(settings, home, env)
    assert first.url is not None
    move_in(first.url, home)
    monkeypatch.setattr(decide, "LOCAL_URL", other.tcp)
    age(home, 100)
    assert choose(settings, home, env).url == first.url
    move_out(first.url)
    assert choose(settings, home, env).url == first.url
    age(home, 100)
    moved = choose(settings, home, env)
    assert (moved.url, moved.embedded) == (other.tcp, False)
    assert len(moved.notices) == 1
    assert other.tcp in moved.notices[0]


def test_embedded_is_used_while_somebody_lives_there(settings: Settings, home: Home, env: Env, local: Server) -> None:
    """Also without a record the scope is found on the embedded server before the local one is taken."""
    url = embedded.start(home, env).url
    move_in(url, home)
    assert choose(settings, home, env).url == url


def test_scopes_are_chosen_for_one_by_one(settings: Settings, home: Home, env: Env, other: Server) -> None:
    """One scope's server is not another's."""
    choose(settings, home, env, url=other.url)
    assert choose(Settings(None, "App"), home, env).embedded
    assert choose(settings, home, env).url == other.url


def test_dead_embedded_is_started_again(settings: Settings, home: Home, env: Env) -> None:
    """A participant that finds the embedded server dead gets it back, at the same place; ten at once get
    one."""
    first = choose(settings, home, env)
    assert first.url is not None
    pid = pids.read(home)["server"]
    os.kill(pid, 9)
    until(lambda: not pids.lives(pid, ""), "the server is gone")
    assert choose(settings, home, env).url == first.url  # the record is young and the socket still there
    again = rechoose(settings, home, env, lost=first.url)
    assert (again.url, again.embedded) == (first.url, True)
    found = pids.read(home)["server"]
    assert rechoose(settings, home, env, lost=first.url).url == first.url
    assert pids.read(home)["server"] == found


def test_stopped_embedded_is_started_again(settings: Settings, home: Home, env: Env) -> None:
    """After `server stop` the next choice starts it, however young the record is."""
    first = choose(settings, home, env)
    embedded.stop(home)
    assert choose(settings, home, env, start=False).url is None
    assert choose(settings, home, env).url == first.url
    assert embedded.url(home) == first.url


def test_gone_local_server_all_move_together(settings: Settings, home: Home, env: Env, local: Server) -> None:
    """While the local server is away newcomers still go there (it may be back in a second); the first
    participant that gives it up moves the scope, and everybody else follows, also when the old one is
    back."""
    assert choose(settings, home, env).url == local.tcp
    local.stop()
    age(home, 100)
    assert choose(settings, home, env).url == local.tcp
    moved = rechoose(settings, home, env, lost=local.tcp)
    assert moved.embedded
    assert local.tcp in moved.notices[-1]
    local.restart()
    for choice in (rechoose(settings, home, env, lost=local.tcp), choose(settings, home, env)):
        assert (choice.url, choice.embedded) == (moved.url, True)


def test_local_server_that_is_back_is_kept(settings: Settings, home: Home, env: Env, local: Server) -> None:
    """Giving up a server that answers again by then moves nobody."""
    choose(settings, home, env)
    assert rechoose(settings, home, env, lost=local.tcp).url == local.tcp
    assert pids.read(home) == {}


def test_patience_waits_for_a_restart(settings: Settings, home: Home, env: Env, local: Server) -> None:
    """A caller that only now met a server that does not answer waits for it before it moves the scope."""
    choose(settings, home, env)
    local.stop()
    threading.Timer(0.3, local.restart).start()
    assert rechoose(settings, home, env, lost=local.tcp, patience=20.0).url == local.tcp
    local.stop()
    before = time.monotonic()
    assert rechoose(settings, home, env, lost=local.tcp, patience=0.5).embedded
    assert time.monotonic() - before >= 0.5


def test_who_went_along_stays_along(settings: Settings, home: Home, env: Env, other: Server) -> None:
    """A participant that was asked for another server but went where the scope lives stays there when that dies."""
    first = choose(settings, home, env)
    assert first.url is not None
    pid = pids.read(home)["server"]
    os.kill(pid, 9)
    until(lambda: not pids.lives(pid, ""), "the server is gone")
    named = {**env, "OMP_COORD_REDIS_URL": other.url}
    assert rechoose(settings, home, named, lost=first.url).url == first.url
    assert embedded.url(home) == first.url


def test_new_boot_frees_the_scope(settings: Settings, home: Home, env: Env, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a boot nobody waits for a server that was there before: the scope goes on without 3 s of
    patience."""
    record.write(home, "app", f"redis://127.0.0.1:{free_port()}", False)
    age(home, 100)
    monkeypatch.setattr(record, "boot_id", lambda: "another")
    assert choose(settings, home, env).embedded


def test_named_server_is_never_left_for_the_embedded(settings: Settings, home: Home, env: Env, other: Server) -> None:
    """Losing a named server, neither those who named it nor those who only live there move to the embedded
    one."""
    choose(settings, home, env, url=other.tcp)
    other.stop()
    assert rechoose(settings, home, env, lost=other.tcp, url=other.tcp).url == other.tcp
    assert rechoose(settings, home, env, lost=other.tcp).url == other.tcp
    age(home, 1000)
    assert rechoose(settings, home, env, lost=other.tcp).embedded
    assert rechoose(settings, home, env, lost=other.tcp, url=other.tcp).url == other.tcp


def test_known_epoch_is_not_fresh(settings: Settings, home: Home, env: Env) -> None:
    """A board missing on the embedded server need not settle only where this user never knew one of the
    scope."""
    assert choose(settings, home, env).fresh_allowed
    with open(f"{home.epochs()}/{record.file_name('app')}", "w"):
        pass
    assert not choose(settings, home, env).fresh_allowed


def test_clock_set_back(settings: Settings, home: Home, env: Env) -> None:
    """A record from the future is looked at again, not trusted for ever."""
    choose(settings, home, env)
    age(home, -1000)
    known = record.read(home, "app")
    assert known is not None
    assert not chooser.is_current(known, None)
    assert choose(settings, home, env).embedded
    known = record.read(home, "app")
    assert known is not None
    assert known.age >= -1


def test_ten_at_once_choose_one(home: Home, env: Env) -> None:
    """Ten first runs at the same time end on one server."""
    code = """if True:
        import os, sys
        from coord.home import Home
        from coord.server import decide
        from coord.server.choose import choose
        decide.LOCAL_URL, decide.IN_ALL_S = sys.argv[2], 60.0
        class Settings: scope, redis_url, trusted = "app", None, True
        print(choose(Settings(), Home.find({"OMP_COORD_HOME": sys.argv[1]}), os.environ).url)
    """
    command = [sys.executable, "-c", code, home.root, decide.LOCAL_URL]
    runs = [subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) for _ in range(10)]
    assert {run.communicate(timeout=120)[0].strip() for run in runs} == {embedded.url(home)}


def test_no_program(settings: Settings, home: Home, env: Env) -> None:
    """With no server to be had the error says how to get one, within the 3 s a run may lose."""
    with pytest.raises(Unavailable, match="OMP_COORD_REDIS_SERVER cannot be used"):
        choose(settings, home, {**env, "OMP_COORD_REDIS_SERVER": "/none"})
