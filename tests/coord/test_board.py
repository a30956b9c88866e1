"""coord.board: which error of a server means what, and that a forgotten script is sent again."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from coord.answers import Granted
from coord.board import Board
from coord.caller import fault
from coord.errors import BoardFault, Unavailable
from coord.wire import ServerError, connect
from tests.boards import policy, real_board, record, unique_scope
from tests.servers import Server
from tests.waiting import until

ONE_SLOT = policy(q={"slots": 1})


@pytest.fixture
def board(server: Server) -> Iterator[Board]:
    """A board on a real server, with real scripts."""
    board = real_board(server.url)
    yield board
    admin = connect(server.url)
    for words in (("CONFIG", "SET", "maxmemory", "0"), ("REPLICAOF", "NO", "ONE"), ("DEL", *board.keys.all())):
        admin.call(*words)
    admin.close()
    board.link.close()


def enqueue(board: Board, job: str) -> Granted:
    answer = board.job_enqueue(
        job, "q", "default", owner="o", policy="p", policy_json=ONE_SLOT, record=record(job), wait=False
    )
    assert isinstance(answer, Granted)
    return answer


def words(job: str) -> dict[str, object]:
    return {
        "job": job, "queue": "q", "lane": "default", "session": "", "owner": "o", "parent": "", "wait": "1",
        "limit_ms": "", "policy": "p", "policy_json": ONE_SLOT, "record": record(job),
    }  # fmt: skip


def test_a_full_server_is_away(server: Server, board: Board) -> None:
    """OOM is no fault of a script, on every kind of server, also where it comes wrapped in another error."""
    connect(server.url).call("CONFIG", "SET", "maxmemory", "1")
    with pytest.raises(Unavailable, match=r"^the server refuses: .*OOM"):
        enqueue(board, "j")


def test_a_replica_is_away(server: Server, board: Board) -> None:
    """READONLY is no fault of a script: the master is somewhere else now."""
    connect(server.url).call("REPLICAOF", "127.0.0.1", "1")
    with pytest.raises(Unavailable, match="READONLY"):
        enqueue(board, "j")


@pytest.mark.parametrize(
    "rules",
    [
        ("+evalsha", "+eval", "~coord:*"),  # a key or channel is allowed, the commands in the script are not
        ("+@all", "~other:*"),
        ("+@all", "-eval", "-evalsha", "~*"),
        ("+@all", "-zadd", "~*", "&*"),
    ],
    ids=["commands", "keys", "scripts", "one command"],
)
def test_a_user_who_may_not_is_away(server: Server, board: Board, rules: tuple[str, ...]) -> None:
    """What is not allowed to this user is Unavailable, on every kind of server: the job then runs without a board."""
    user = f"u{os.urandom(4).hex()}"
    admin = connect(server.url)
    admin.call("ACL", "SETUSER", user, "on", ">p", "resetchannels", "+hello", "+auth", *rules)
    limited = Board(connect(server.url.replace("unix://", f"unix://{user}:p@")), board.scope, fresh=True)
    with pytest.raises(Unavailable, match="the server refuses: "):
        enqueue(limited, "j")
    admin.call("ACL", "DELUSER", user)


@pytest.mark.parametrize(
    "text",
    [
        "LOADING Redis is loading the dataset in memory", "BUSY Redis is busy running a script",
        "MASTERDOWN Link with MASTER is down", "CLUSTERDOWN The cluster is down", "MOVED 1234 127.0.0.1:7000",
        "TRYAGAIN Multiple keys request during rehashing", "NOAUTH Authentication required.",
        "NOREPLICAS Not enough good replicas to write.", "MISCONF Redis is configured to save RDB snapshots",
        "ERR Error running script (call to f_x): @user_script:1: @user_script: 1: -MISCONF Redis is configured",
        "ERR unknown command 'EVALSHA', with args beginning with: 'x'",
    ],
)  # fmt: skip
def test_not_now_and_not_here(text: str) -> None:
    """An error that says that this server can't be used now is Unavailable, not a fault of a script."""
    assert isinstance(fault("job_start", ServerError(text)), Unavailable)


@pytest.mark.parametrize(
    "text",
    [
        "WRONGTYPE Operation against a key holding the wrong kind of value", "ERR user_script:1: attempt to index nil",
        "ERR Error running script (call to f_x): @user_script:1: WRONGTYPE Operation against a key \x1b[31m\n",
    ],
)  # fmt: skip
def test_a_fault_of_a_script(text: str) -> None:
    """Any other error is a fault that names the script, on one line."""
    found = fault("job_start", ServerError(text))
    assert isinstance(found, BoardFault)
    assert str(found).startswith("job_start.lua: ")
    assert str(found).isprintable()


def test_something_else_under_a_key(server: Server, board: Board) -> None:
    """A key that holds something else is a fault of the board, not an absent server."""
    connect(server.url).call("SET", board.keys["JOBS"], "x")
    with pytest.raises(BoardFault, match=r"^job_enqueue\.lua: .*WRONGTYPE"):
        enqueue(board, "j")


def test_a_board_of_a_newer_version(server: Server, board: Board) -> None:
    """A board whose schema is newer is not touched: Unavailable, with what to do."""
    enqueue(board, "j")
    board.link.call("HSET", board.keys.meta, "schema", "2")
    with pytest.raises(Unavailable, match=r"made by a newer omp-coord \(schema 2\); update this one"):
        board.job_beat("j", "j", "running")


def test_a_forgotten_script_in_a_call(board: Board) -> None:
    """After SCRIPT FLUSH a call works as ever, and the server knows the script again."""
    board.link.call("SCRIPT", "FLUSH")
    enqueue(board, "j")
    script, _ = board.words("job_enqueue", words("j"))
    assert board.link.call("SCRIPT", "EXISTS", script.sha) == [1]


def test_a_forgotten_script_on_entering(server: Server, board: Board) -> None:
    """After SCRIPT FLUSH a subscription with a call works as ever, and messages come."""
    board.link.call("SCRIPT", "FLUSH")
    assert board.enter((board.keys.wake("j"),), "job_enqueue", **words("j")).verdict == "granted"
    board.link.call("SCRIPT", "FLUSH")
    assert board.enter((board.keys.wake("j"),), "job_beat", job="j", instance="j", state="running", ahead="",
                       policy="", policy_json="").verdict == "running"  # fmt: skip
    assert connect(server.url).call("PUBLISH", board.keys.wake("j"), "hello") == 1
    until(lambda: board.poll() or [p for p in board.link.pushes if p[0] == "message"], "the message")


def test_a_forgotten_script_in_a_posted_call(board: Board) -> None:
    """After SCRIPT FLUSH a posted call is sent again with its text; the caller only waits longer."""
    enqueue(board, "j")
    board.link.call("SCRIPT", "FLUSH")
    board.post("job_beat", job="j", instance="j", state="running", ahead="", policy="", policy_json="")
    assert board.waits
    answer = until(board.poll, "the answer")
    assert answer.verdict == "running"
    assert not board.waits


def test_what_is_vouched_for_goes_along_once(board: Board) -> None:
    """The next call of whatever kind says what was seen; the one after it does not."""
    enqueue(board, "j")
    board.vouched = [{"kind": "job", "id": "j", "pid": 1000, "start": "1", "instance": "j", "is": "gone"}]
    board.post("job_beat", job="other", instance="x", state="waiting", ahead="", policy="", policy_json="")
    assert until(board.poll, "the answer").verdict == "unknown"
    assert board.vouched == []
    assert board.job_beat("j", "j", "running").verdict == "ended"


def test_a_job_that_missed_its_answer_is_withdrawn(board: Board) -> None:
    """`withdraw` takes a job off the board whether it waits, runs or was never there."""
    for _ in range(2):
        enqueue(board, "runs")
        board.job_enqueue("waits", "q", "default", owner="o", policy="p", policy_json=ONE_SLOT, record=record("waits"))
        for job in ("waits", "runs", "never"):
            board.withdraw(job, job)
        assert board.link.call("HLEN", board.keys["JOBS"]) == 0
        board.link.call("DEL", board.keys["ENDED"], board.keys["ENDED_AT"])


def test_scopes_do_not_meet(server: Server, board: Board) -> None:
    """Two scopes on one server know nothing of each other's jobs."""
    other = real_board(server.url, unique_scope())
    enqueue(board, "j")
    assert enqueue(other, "j").verdict == "granted"
    other.link.call("DEL", *other.keys.all())
    other.link.close()
