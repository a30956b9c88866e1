"""`command.check` through the pipe: what the host is told, what the board shows, and that nothing waits for it."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from coord.bridge.queued import Caller, Queued, line_of
from tests.bridge.host import Host
from tests.bridge.texts import commands
from tests.cli.den import NOBODY
from tests.cli.place import Place, finished
from tests.servers import Server
from tests.waiting import until

RULES = [
    {"pattern": "--force", "action": "refuse", "reason": "Use\n--force-with-lease."},
    {"pattern": "^(make|read|received)\\b", "action": "queue", "queue": "q"},
    {"pattern": "^test\\b", "action": "queue", "queue": "test", "lane": "quick"},
    {"pattern": "^(a|aa)+\\1x(?=b)$", "action": "refuse", "reason": "never"},
]
QUEUES = {"q": {"slots": 1, "order": "fair-share"}, "test": {"slots": 1, "lanes": {"quick": {}}}}


@pytest.fixture
def ruled(place: Place) -> Place:
    """The place, with rules for commands."""
    place.config(commands=RULES, queues=QUEUES)
    return place


def check(it: Host, command: str, agent: str = "W0", tool: str = "bash", **more: Any) -> Any:
    kind = "main" if agent == "Main" else "sub"
    return it.call("command.check", agent=agent, kind=kind, tool=tool, command=command, cwd=it.place.folder, **more)


def line(it: Host, command: str, queue: str = "q", lane: str | None = None, agent: str = "W0") -> str:
    caller = Caller(it.place.den.command, it.place.path(".omp-coord.json"), it.session)
    return line_of(Queued(queue, lane, command), caller, agent)


def test_run_refuse_and_queue(ruled: Place, host: Callable[..., Host]) -> None:
    """Each as the rules say; a refusal is worded for the model; what the queue means is told once to each agent."""
    it = host()
    assert check(it, "ls -l") == {"action": "run"}
    refused = {"action": "refuse", "reason": "omp-coord: Use --force-with-lease."}
    assert check(it, "git push --force") == refused
    queued = check(it, "make all")
    assert (queued["action"], queued["command"]) == ("run", line(it, "make all"))
    assert queued["context"].startswith("omp-coord: ")
    assert check(it, "make all") == {"action": "run", "command": line(it, "make all")}
    assert "context" in check(it, "make", "Main")
    assert check(it, "test x")["command"] == line(it, "test x", "test", "quick")
    assert check(it, check(it, "make all", "W1")["command"], "W2")["command"] == line(it, "make all", agent="W2")


def test_only_bash_and_only_whole_requests(ruled: Place, host: Callable[..., Host]) -> None:
    """Other tools' words are no commands; an agent without a name is a fault of the host."""
    it = host()
    assert check(it, "make", tool="eval") == {"action": "run"}
    assert it.code("command.check", agent="", kind="sub", tool="bash", command="make") == -32602
    assert it.code("command.check", agent="W0", kind="sub", tool="bash") == -32602
    assert it.call("command.check", agent="W0", kind="sub", tool="bash", command="make")["action"] == "run"


def test_tags_and_a_changed_file(ruled: Place, host: Callable[..., Host]) -> None:
    """A session takes up changed rules while it runs, also where its policy stays the same."""
    it = host()
    assert check(it, "ls") == {"action": "run"}
    ruled.config(commands=RULES, queues=QUEUES, tagAgentCommands=True)
    tag = "export OMP_COORD_AGENT=W0; "
    until(lambda: check(it, "ls") == {"action": "run", "command": f"{tag}ls"}, "tags are on")
    for _ in range(2):
        assert check(it, f"export OMP_COORD_AGENT='W 9';\n{tag}make")["command"] == tag + line(it, "make")
    ruled.config(queues=QUEUES)
    until(lambda: check(it, f"{tag}make") == {"action": "run"}, "rules and tags are off")


def test_a_slow_pattern_is_said_once(ruled: Place, host: Callable[..., Host]) -> None:
    """The command is let through; the notice names the pattern."""
    it = host()
    for _ in range(3):
        assert check(it, "a" * 60 + "b") == {"action": "run"}
    check(it, "ls")
    assert len(it.texts("warning")) == 1
    assert "(a|aa)" in it.texts("warning")[0]


def test_a_queued_command_on_the_board(ruled: Place, host: Callable[..., Host]) -> None:
    """It runs in its queue with session, agent and folder; its owner is the session, whatever the shell's environment says
    of it (a host keeps that of its first session)."""
    it = host()
    os.mkfifo(ruled.path("gate"))
    text = check(it, 'read -r x <gate; echo "$x"', "W'7")["command"]
    os.mkdir(ruled.path("deep"))
    for env in ({"OMP_COORD_SESSION": it.session}, {}, {"OMP_COORD_SESSION": "00ff00ff00ff00ff"}):
        proc = ruled.start("sh", "-c", text, env={**env, "PATH": "/usr/bin:/bin"})
        ruled.until_jobs(1, "running")
        picture = json.loads(finished(ruled.start(ruled.den.command, "status", "--json"), 0)[0])
        (job,) = picture["queues"]["q"]["running"]
        (session,) = picture["sessions"]
        assert (job["session"], job["owner"], job["agent"]) == (it.session, it.session, "W'7")
        assert job["command"].startswith("bash -c 'read -r x <gate")
        assert session["id"] == it.session
        with open(ruled.path("gate"), "w", encoding="utf-8") as gate:
            gate.write("done\n")
        assert finished(proc, 0)[0] == "done\n"
        ruled.until_jobs(0)


@pytest.fixture
def received(ruled: Place) -> Iterator[Place]:
    """The place, with a program `received` that prints what it is given."""
    path = ruled.write("received", "#!/bin/sh\nprintf '%s\\0' \"$@\"\ntest -t 0 || cat\n")
    os.chmod(path, 0o755)
    yield ruled


def test_random_commands_through_the_real_run(received: Place, host: Callable[..., Host]) -> None:
    """What the program gets through bridge, bash and `omp-coord run` is what it gets without them."""
    it, place = host(), received
    env = {"PATH": f"{place.folder}:{place.env['PATH']}"}

    @settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(commands())
    def same(command: str) -> None:
        made = check(it, f"received;{command}")["command"]
        assert made.endswith("'") and " q -- bash -c 'received;" in made
        ended = []
        for text in (f"received;{command}", made):
            proc = place.start("bash", "-c", text, env=env)
            ended.append((proc.communicate(timeout=60)[0], proc.returncode))
        assert ended[0] == ended[1]

    same()


def test_a_server_that_is_away_blocks_nothing(ruled: Place, host: Callable[..., Host]) -> None:
    """The rules need only the file: they hold without a board, and the queued command runs all the same."""
    it = host(opened=False, OMP_COORD_REDIS_URL=NOBODY)
    assert it.open()["code"] == "noServer"
    assert check(it, "git push --force")["action"] == "refuse"
    made = check(it, "make -v")["command"]
    assert " --owner " in made
    text = made.replace("make -v", "echo it runs")
    out, err = finished(ruled.start("sh", "-c", text, env={"OMP_COORD_REDIS_URL": NOBODY}), 0)
    assert out == "it runs\n"
    assert "uncoordinated" in err or "without" in err


@pytest.mark.parametrize("why", ["noConfig", "badConfig", "off"])
def test_an_inactive_session_has_no_rules(ruled: Place, host: Callable[..., Host], why: str) -> None:
    """Without a valid file, or switched off, every command runs as it stands."""
    it = host(opened=False, **({"OMP_COORD": "off"} if why == "off" else {}))
    if why == "noConfig":
        os.unlink(ruled.path(".omp-coord.json"))
    elif why == "badConfig":
        ruled.write(".omp-coord.json", "{")
    assert it.open()["code"] == why
    for command in ("git push --force", "make"):
        assert check(it, command) == {"action": "run"}


def test_the_board_is_not_asked(ruled: Place, server: Server, host: Callable[..., Host]) -> None:
    """While the server hangs every command is answered all the same."""
    it = host()
    check(it, "ls")
    os.kill(server.pid, signal.SIGSTOP)
    try:
        for n in range(20):
            assert check(it, f"make {n}")["command"] == line(it, f"make {n}")
            assert check(it, "x --force")["action"] == "refuse"
    finally:
        os.kill(server.pid, signal.SIGCONT)
