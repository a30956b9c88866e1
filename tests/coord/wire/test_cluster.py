"""coord.wire.cluster: the same conversations over a Redis Cluster, over a Sentinel with a failover, and over TLS."""

from __future__ import annotations

import contextlib
import shutil
import threading
from collections.abc import Iterator

import pytest

from coord.board import Board
from coord.config.settings import Settings
from coord.coordinator import Coordinator
from coord.errors import Unavailable
from coord.home import Home
from coord.keys import Keys
from coord.wire import ServerError, connect
from tests.boards import unique_scope
from tests.coord.wire.groups import Cluster, Tls, Watched, speaks_tls
from tests.limited import COMMANDS
from tests.servers import free_port, short_folder
from tests.waiting import Awake, until

GROUPS = ("redis7", "valkey9")


@pytest.fixture(scope="module", params=GROUPS)
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """Three nodes, shared by the module's tests."""
    folder = short_folder()
    cluster = Cluster(request.param, folder)
    yield cluster
    cluster.close()
    shutil.rmtree(folder)


@pytest.fixture(params=GROUPS)
def watched(request: pytest.FixtureRequest) -> Iterator[Watched]:
    """A master of the test's own, with a replica and a Sentinel."""
    folder = short_folder()
    watched = Watched(request.param, folder)
    yield watched
    watched.close()
    shutil.rmtree(folder)


@pytest.fixture
def home() -> Iterator[Home]:
    folder = short_folder()
    yield Home.find({"OMP_COORD_HOME": folder + "/home"})
    shutil.rmtree(folder)


def coordinator(home: Home, url: str, scope: str | None = None) -> Coordinator:
    return Coordinator(Settings(None, scope or unique_scope()), home, url)


def made(url: str) -> str:
    """A scope whose board is there already, so that nobody waits until a new one has settled."""
    scope = unique_scope()
    with contextlib.closing(connect(url)) as link:
        assert Board(link, scope, fresh=True).board_sweep().verdict == "swept"
    return scope


class Waiter(threading.Thread):
    """A thread that takes a slot, says when it has it, and gives it back when told."""

    def __init__(self, coordinator: Coordinator) -> None:
        super().__init__(daemon=True)
        self.slot = coordinator.slot("q", strict=True)
        self.coordinator = coordinator
        self.fence = 0
        self.had, self.leave = threading.Event(), threading.Event()
        self.start()

    def run(self) -> None:
        with self.slot as slot:
            self.fence = slot.fence
            self.had.set()
            self.leave.wait(300)


def waiting(url: str, scope: str, count: int) -> None:
    """Returns once that many jobs stand in the line of the scope."""
    with contextlib.closing(connect(url)) as link:
        key = Keys(scope)["WAITING"]
        # Each stands there twice, by its ticket and by its owner.
        until(lambda: link.call("ZCARD", key) == 2 * count, f"{count} jobs wait")


def told(url: str, scope: str) -> list[object]:
    """The events of the scope's board, by their types, and how many jobs are left."""
    with contextlib.closing(connect(url)) as link:
        events = link.call("XRANGE", Keys(scope)["EVENTS"], "-", "+")
        assert isinstance(events, list)
        return [*[fields["type"] for _, fields in events], link.call("HLEN", Keys(scope)["JOBS"])]


def hand_over(home: Home, url: str) -> None:
    """One takes the slot, another waits and is woken as soon as it is free."""
    scope = made(url)
    with coordinator(home, url, scope) as here:
        with here.slot("q", strict=True) as slot:
            first = slot.fence
            waiter = Waiter(here)
            waiting(url, scope, 1)
        with Awake() as clock:
            until(waiter.had.is_set, "the waiter has the slot")
        assert clock.seconds < 1, "it asks every 2 s: a message must have woken it"
        assert waiter.fence > first
        waiter.leave.set()
        waiter.join(60)
    *events, left = told(url, scope)
    assert left == 0
    jobs = [event for event in events if str(event).startswith("job_")]
    first_and_second = ["job_queued", "job_started", "job_queued", "job_finished"]
    assert jobs == [*first_and_second, "job_granted", "job_started", "job_finished"]


# -- a cluster


def test_a_slot_is_handed_over_in_a_cluster(cluster: Cluster, home: Home) -> None:
    """Enqueue, wait, wake by message, start and finish work as on a single server, and nothing stays on the board."""
    hand_over(home, cluster.url)


def test_scopes_are_spread_over_the_nodes(cluster: Cluster, home: Home) -> None:
    """All keys of a scope lie on one node, and several scopes on several nodes."""
    scopes = [made(cluster.url) for _ in range(8)]
    threads = [threading.Thread(target=one_slot, args=(home, cluster.url, scope)) for scope in scopes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(90)
    used = set()
    for scope in scopes:
        nodes = [number for number, keys in enumerate(cluster.keys_by_node(f"coord:{{{scope}}}:*")) if keys]
        assert len(nodes) == 1
        used.update(nodes)
    assert len(used) > 1


def one_slot(home: Home, url: str, scope: str) -> None:
    with coordinator(home, url, scope) as here, here.slot("q", strict=True) as slot:
        assert slot.coordinated


def test_a_user_of_a_cluster(cluster: Cluster, home: Home) -> None:
    """A user that may do no more than the board and the cluster client need is enough."""
    for link in cluster.links:
        rules = ["~coord:*", "resetchannels", "&coord:*", *[f"+{word}" for word in COMMANDS], "+cluster", "+command"]
        link.call("ACL", "SETUSER", "limited", "reset", "on", ">pa@ss", *rules)
    one_slot(home, cluster.url.replace("://", "://limited:pa%40ss@"), made(cluster.url))
    with pytest.raises(Unavailable, match=r"(?i)password") as caught:
        connect(cluster.url.replace("://", "://limited:hunter2@"))
    assert "hunter2" not in str(caught.value)


def test_commands_and_errors_in_a_cluster(cluster: Cluster) -> None:
    """Answers and error replies have the same shape as on a single server."""
    link = connect(cluster.url)
    assert link.call("SET", "{a}k", "v") in ("OK", True)
    assert link.call("GET", "{a}k") == "v"
    with pytest.raises(ServerError) as caught:
        link.call("EVALSHA", "0" * 40, 1, "{a}k")
    assert caught.value.code == "NOSCRIPT"
    link.post("GET", "{a}k")
    assert link.poll() == ["v"]
    assert link.poll() == []
    link.close()
    for use in (lambda: link.call("GET", "{a}k"), lambda: link.call("SUBSCRIBE", "c")):
        with pytest.raises(Unavailable, match="the connection is closed"):
            use()


def test_messages_in_a_cluster(cluster: Cluster) -> None:
    """After `SUBSCRIBE` has returned no message is missed, from whatever node it is published."""
    link = connect(cluster.url)
    for number in range(20):
        channel = f"coord:{{s{number}}}:wake:x"
        link.call("SUBSCRIBE", channel)
        for node in cluster.links:
            node.call("PUBLISH", channel, number)
    until(lambda: link.poll() == [] and len(link.pushes) == 60, "all messages")
    assert sorted({int(str(push[2])) for push in link.pushes}) == list(range(20))
    assert {push[0] for push in link.pushes} == {"message"}
    link.close()


def test_no_cluster_there(cluster: Cluster) -> None:
    """Nodes that do not answer, or are no cluster, are Unavailable in one line, soon."""
    for url in (f"redis+cluster://127.0.0.1:{free_port()}", "redis+cluster://no-such-host.invalid"):
        with Awake() as clock, pytest.raises(Unavailable) as caught:
            connect(url, timeout=0.5)
        assert str(caught.value).isprintable()
        assert clock.seconds < 3
    for node in cluster.nodes:
        with pytest.raises(Unavailable):
            coordinator_of = connect(f"redis+sentinel://127.0.0.1:{node.port}/main", timeout=0.5)
            coordinator_of.close()


# -- a Sentinel


def test_a_slot_is_handed_over_by_a_sentinel(watched: Watched, home: Home) -> None:
    """The conversation works over a Sentinel; when the master dies while one holds and one waits, both go on at the new
    one: the holder keeps its slot, the waiter its place, and the hand-over follows."""
    scope = made(watched.url)
    here = coordinator(home, watched.url, scope)
    with here.slot("q", strict=True) as slot:
        fence = slot.fence
        waiter = Waiter(here)
        waiting(watched.url, scope, 1)
        watched.fail_over()
        with contextlib.closing(connect(watched.replica.url)) as link:
            jobs = Keys(scope)["JOBS"]
            until(lambda: states(link.call("HVALS", jobs)) == ["running", "waiting"], "both are on the new master", 60)
        until(lambda: slot.coordinated, "the slot is coordinated")
        assert slot.fence >= fence
        assert not waiter.had.is_set()
    with Awake() as clock:
        until(waiter.had.is_set, "the waiter has the slot")
    assert clock.seconds < 8, "at the latest when the grant of the lost connection lapses"
    waiter.leave.set()
    waiter.join(60)
    with contextlib.closing(connect(watched.replica.url)) as link:
        until(lambda: link.call("HLEN", Keys(scope)["JOBS"]) == 0, "nothing is left on the board")


def states(jobs: object) -> list[str]:
    import json

    assert isinstance(jobs, list)
    return sorted(json.loads(job)["state"] for job in jobs)


@pytest.mark.parametrize("watched", ["valkey9"], indirect=True)
def test_no_such_service(watched: Watched) -> None:
    """A service that the Sentinel does not know is Unavailable, as are Sentinels that do not answer."""
    for url in (f"redis+sentinel://127.0.0.1:{watched.port}/other", f"redis+sentinel://127.0.0.1:{free_port()}/main"):
        with pytest.raises(Unavailable, match=r"(?i)master|sentinel"):
            connect(url, timeout=0.5)


# -- TLS


@pytest.fixture(scope="module")
def tls() -> Iterator[Tls]:
    """A server that speaks TLS, where this machine has one."""
    kinds = [kind for kind in GROUPS if speaks_tls(kind)]
    if not kinds or shutil.which("openssl") is None:
        pytest.skip("no server program with TLS, or no openssl, on this machine")
    folder = short_folder()
    tls = Tls(kinds[0], folder)
    yield tls
    tls.close()
    shutil.rmtree(folder)


def test_a_slot_over_tls(tls: Tls, home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a certificate that the system trusts (here by SSL_CERT_FILE), rediss:// works as redis:// does."""
    monkeypatch.setenv("SSL_CERT_FILE", tls.certificate)
    hand_over(home, tls.url)


def test_a_certificate_that_nobody_trusts(tls: Tls, monkeypatch: pytest.MonkeyPatch) -> None:
    """A certificate that cannot be checked is Unavailable, with the reason: nothing is sent there."""
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    with pytest.raises(Unavailable, match=r"(?i)certificate"):
        connect(tls.url, timeout=1)


def test_no_tls_there(tls: Tls) -> None:
    """A port that speaks plain Redis is Unavailable for rediss://, and the other way round."""
    for url in (f"rediss://127.0.0.1:{tls.server.port}", tls.url.replace("rediss", "redis")):
        with pytest.raises(Unavailable):
            connect(url, timeout=0.5)
