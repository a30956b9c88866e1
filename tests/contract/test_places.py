"""Where the scripts run besides plain servers: a cluster node, and fakeredis."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import fakeredis
import pytest

from coord.board import Board
from coord.wire import connect
from coord.wire.link import ServerError
from coord.wire.url import Address
from tests.boards import policy, record
from tests.servers import KINDS, Server, as_node
from tests.waiting import until


def tell_a_story(board: Board) -> None:
    """Enqueue, wait, beat, hand over, start, finish; ends with an empty board."""
    asked: dict[str, Any] = {"owner": "o", "policy": "p", "policy_json": policy(q={"slots": 1})}
    first = board.job_enqueue("a", "q", "default", record=record("a"), **asked)
    assert (first.verdict, first.epoch != "") == ("granted", True)
    assert board.job_enqueue("b", "q", "default", record=record("b"), **asked).verdict == "waiting"
    assert board.job_beat("a", "a", "running").verdict == "running"
    assert board.job_finish("a", "a", first.fields["fence"], "ok").verdict == "released"
    granted = board.job_beat("b", "b", "waiting")
    assert granted.verdict == "granted"
    assert board.job_start("b", "b", granted.fields["fence"]).verdict == "started"
    assert board.job_finish("b", "b", granted.fields["fence"], "ok").verdict == "released"
    assert board.job_register("c", "q", "default", "running", ticket="", fence="", record=record("c", owner="o"),
                              policy="p", policy_json=policy(q={"slots": 1})).verdict == "running"  # fmt: skip
    assert board.job_cancel("c", by="me", kill=True).verdict == "killing"
    assert board.board_sweep().verdict == "swept"
    read = board.board_read()
    assert (read.verdict, '"c"' in read.fields["jobs"]) == ("board", True)


def silent(board: Board) -> Board:
    """A board whose listeners cannot be counted, as on a cluster."""
    board._common["single"] = ""
    return board


@pytest.fixture(params=KINDS)
def node(request: pytest.FixtureRequest) -> Iterator[Server]:
    """A cluster of one node that serves all slots."""
    with Server(request.param, *as_node(request.param)) as server:
        link = connect(server.url)
        link.call("CLUSTER", "ADDSLOTS", *range(16384), timeout=20)
        until(lambda: "cluster_state:ok" in str(link.call("CLUSTER", "INFO")), "the cluster is up")
        yield server


def test_on_a_node_of_a_cluster(node: Server) -> None:
    """All keys of a call lie in one slot, so a cluster takes every script; two scopes in one call it would not take."""
    board = silent(Board(connect(node.url), "cluster", fresh=True))
    tell_a_story(board)
    with pytest.raises(ServerError, match="CROSSSLOT"):
        board.link.call("DEL", board.keys.meta, Board(board.link, "other").keys.meta)


class FakeLink:
    """fakeredis behind the interface of a connection."""

    def __init__(self) -> None:
        self.address = Address("redis://fake")
        self._client: Any = fakeredis.FakeStrictRedis(decode_responses=True)

    def call(self, *words: Any, timeout: float = 3.0) -> Any:
        from redis.exceptions import NoScriptError

        try:
            return self._client.execute_command(*words)
        except NoScriptError as error:
            raise ServerError(f"NOSCRIPT {error}") from None


def test_on_fakeredis() -> None:
    """The scripts run where no server is, for tests of whoever uses the library."""
    link: Any = FakeLink()
    tell_a_story(silent(Board(link, "fake", fresh=True)))
