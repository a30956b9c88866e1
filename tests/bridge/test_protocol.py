"""What the bridge says to lines that are right, wrong, or no lines at all."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable
from typing import Any

import pytest

from tests.bridge.host import ENOUGH_S, GONE_S, MAIN, Host
from tests.cli.place import Place
from tests.waiting import until

Hosts = Callable[..., Host]
GONE_LATE_S = 30.0
"""Half of what a bridge without a session sleeps at a time."""


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"{", -32700),
        (b"", -32700),
        (b"\xff\xfe", -32700),
        (b'{"id": 7, "method": NaN}', -32700),
        (b"[" * 100_000, -32700),
        (b"1" * 5000, -32700),
        (b'[{"jsonrpc": "2.0", "id": 7, "method": "session.close"}]', -32600),
        (b"42", -32600),
        (b'"x"', -32600),
        (b'{"id": null, "method": "session.close"}', -32600),
        (b'{"id": true, "method": "session.close"}', -32600),
        (b'{"id": 1e999, "method": "session.close"}', -32600),
        (b'{"jsonrpc": "2.0"}', -32600),
    ],
)
def test_a_line_that_is_no_request(host: Hosts, line: bytes, code: int) -> None:
    """It is answered with its error and no id, and the bridge works on."""
    it = host(opened=False)
    it.write(line + b"\n")
    answer = it.answer(None)
    assert (answer["jsonrpc"], answer["error"]["code"]) == ("2.0", code)
    assert it.open()["active"]


def test_an_enormous_line_is_skipped_to_its_end(host: Hosts) -> None:
    """Over 1 MiB: one error, as soon as it is too long; what follows its end is a line again. 1 MiB exactly is fine."""
    it = host(opened=False)
    it.write(b'{"id": 1, "x": "' + b"a" * (3 << 20))
    assert it.answer(None)["error"]["code"] == -32600
    it.write(b'"}\n')
    head, tail = b'{"id":"big","method":"session.close","x":"', b'"}'
    it.write(head + b"a" * ((1 << 20) - len(head) - len(tail)) + tail + b"\n")
    assert it.answer("big")["error"]["code"] == -32001
    assert len([one for one in it.seen if one.get("id", 0) is None]) == 1


def test_methods_and_parameters(host: Hosts) -> None:
    """An unknown method, one of a later time, a board method before `session.open`, bad parameters: each has its code."""
    it = host(opened=False)
    for method in ("nix", "file.check", "fleet.status", ""):
        assert it.code(method) == -32601
    assert it.code("spawn.request", parent=MAIN, type="task") == -32001
    assert it.code("agents.sync", agents=[]) == -32001
    assert it.code("session.close") == -32001
    it.open()
    assert it.code("session.close", reason="because") == -32602


@pytest.mark.parametrize(
    ("params", "named"),
    [
        ({"type": "task"}, "parent is missing"),
        ({"parent": MAIN}, "type is missing"),
        ({"parent": {"id": "Main"}, "type": "task"}, "parent.kind is missing"),
        ({"parent": {"id": 5, "kind": "main"}, "type": "task"}, "parent.id must be a text"),
        ({"parent": MAIN, "type": None}, "type must be a text"),
        ({"parent": "Main", "type": "task"}, "parent must be an object"),
        ({"parent": MAIN, "type": "task", "key": 1}, "key must be a text"),
    ],
)
def test_bad_parameters_name_the_field(host: Hosts, params: dict[str, Any], named: str) -> None:
    """-32602, with the field and what it must be."""
    it = host()
    answer = it.answer(it.send("spawn.request", **params))
    assert (answer["error"]["code"], answer["error"]["message"]) == (-32602, named)


def test_bad_parameters_in_a_list_and_of_open(host: Hosts) -> None:
    """The place in a list is named; `session.open` needs a process."""
    it = host()
    agent = {"id": "a", "type": "t", "parent": MAIN}
    answer = it.answer(it.send("agents.sync", agents=[agent, {**agent, "id": False}]))
    assert answer["error"]["message"] == "agents[1].id must be a text"
    late = json.dumps({"id": "late", "method": "agents.sync", "params": {"agents": [{**agent, "since": 7}]}})
    it.write(late.replace("7", "1e999").encode() + b"\n")
    assert it.answer("late")["error"]["message"] == "agents[0].since must be a number"
    assert it.code("session.open", protocol=1, cwd="/", sessionId="x", pid=0) == -32602
    assert it.code("session.open", protocol=1, cwd="/\0", sessionId="x", pid=1) == -32602
    assert it.code("session.open", protocol="1", cwd="/", sessionId="x", pid=1) == -32602


def test_unknown_parameters_and_null_for_absent_ones(host: Hosts) -> None:
    """What a newer plugin sends besides is ignored; null stands for what is not there."""
    it = host()
    result = it.call("spawn.request", parent={**MAIN, "depth": 3}, type="task", key=None, colour="red", invocation=None)
    assert result["allowed"]


def test_a_request_without_an_id_is_carried_out_unanswered(host: Hosts) -> None:
    """Its effect is there, an answer is not, also when it fails."""
    it = host()
    for method, params in (
        ("agent.started", {"session": it.session, "id": "W0", "parent": MAIN, "type": "task"}),
        ("agent.started", {}),
        ("nix", {}),
    ):
        it.write(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode() + b"\n")
    assert it.spawn()["used"] == 1
    assert [one["id"] for one in it.seen if "method" not in one] == [1, 2]


def test_requests_of_one_write_are_applied_in_their_order(host: Hosts) -> None:
    """Sixty requests in one go: start and end of the same agents alternate, and none is lost or turned round."""
    it = host()
    lines, ids = [], []
    for n in range(20):
        for method, params in (
            ("spawn.request", {"parent": MAIN, "type": "task", "key": f"W{n}"}),
            ("agent.started", {"session": it.session, "id": f"W{n}", "parent": MAIN, "type": "task"}),
            ("agent.ended", {"session": it.session, "id": f"W{n}"}),
        ):
            ids.append(f"{n} {method}")
            lines.append(json.dumps({"jsonrpc": "2.0", "id": ids[-1], "method": method, "params": params}))
    it.write("\n".join(lines).encode() + b"\n")
    answers = [it.answer(id) for id in ids]
    assert all(answer["result"]["allowed"] for answer in answers[::3])
    assert [one["id"] for one in it.seen if "method" not in one][1:] == ids
    kinds = [event["agentId"] for event in it.place.events("run_started")]
    assert kinds == [f"W{n}" for n in range(20)]


def test_a_host_may_write_all_it_has_before_it_reads(place: Place) -> None:
    """Far more than the pipes hold, both ways: neither side waits for the other for ever, and every line is answered."""
    count = 2500
    bridge = place.start(place.den.command, "bridge", stdin=subprocess.PIPE)
    assert bridge.stdin is not None
    assert bridge.stdout is not None
    lines = [f'{{"id": {n}, "method": "session.close", "params": {{"reason": "exit"}}}}\n' for n in range(count)]
    writing = threading.Thread(target=lambda: bridge.stdin.write("".join(lines)) and bridge.stdin.flush(), daemon=True)
    writing.start()
    until(lambda: not writing.is_alive(), "all is written", 60)
    assert [json.loads(bridge.stdout.readline())["id"] for _ in range(count)] == list(range(count))
    bridge.stdin.close()
    assert bridge.wait(10) == 0


def test_a_slow_answer_delays_no_spawn(host: Hosts) -> None:
    """`/coord` is shown by another process: what was asked after it is answered before."""
    it = host()
    slow, spawn = it.send_all(("slash.run", {"args": ""}), ("spawn.request", {"parent": MAIN, "type": "task"}))
    assert it.place.scope in it.answer(slow)["result"]["text"]
    assert it.answer(spawn)["result"]["allowed"]
    assert [one["id"] for one in it.seen if one.get("id") in (slow, spawn)] == [spawn, slow]


def test_the_board_for_agents_and_people(host: Hosts) -> None:
    """The tool and `/coord` show what `omp-coord status` and `omp-coord agents` print, and say whether spawns wait now."""
    it = host()
    it.run("W0")
    for text, shown in (
        (it.call("tool.call", agent="W0", name="coord_status", args={})["text"], "Session"),
        (it.call("slash.run", args="")["text"], "Session"),
        (it.call("slash.run", args=" agents ")["text"], "W0"),
    ):
        first, _, rest = text.partition("\n\n")
        assert first == "This is session A; spawns over the cap wait and start by themselves (2 may run now)."
        assert shown in rest
        assert "\x1b" not in rest
    assert "`/coord pause`" in it.call("slash.run", args="help")["text"]
    assert "There is no `/coord nix`." in it.call("slash.run", args="nix")["text"]
    assert it.code("tool.call", agent="W0", name="coord_nix") == -32602
    items = it.call("slash.complete", prefix="leave w")["items"]
    assert items == [{"value": "leave work", "label": "work", "description": "this pool's line"}]
    assert [it.call("slash.complete", prefix=whole)["items"] for whole in ("agents", "leave work")] == [[], []]
    assert [each["value"] for each in it.call("slash.complete", prefix="re")["items"]] == ["resume"]


def test_nothing_but_protocol_on_stdout(host: Hosts) -> None:
    """Every line of a life with errors, notices and a server that starts is one JSON-RPC object."""
    it = host(opened=False, OMP_COORD_REDIS_URL="")
    it.open()
    it.write(b"nonsense\n\xff\n")
    it.call("tool.call", agent="Main", name="coord_status", args={})
    it.call("slash.run", args="pause \x1b[31mred")
    it.end_input()
    lines = b"".join(it.raw).decode().splitlines()
    assert len(lines) == len(it.seen)
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in lines)
    assert "\\u001b" not in b"".join(it.raw).decode()


def test_the_end_of_input_ends_it_within_a_second(host: Hosts) -> None:
    """It leaves the board, exits 0, and also carries out a last line that has no end."""
    it = host()
    it.write(b'{"id": "last", "method": "slash.complete", "params": {"prefix": "pa"}}')
    assert it.end_input() < GONE_S
    assert it.answer("last")["result"]["items"][0]["value"] == "pause"
    assert it.place.events("session_left")[-1]["reason"] == "exit"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_it(host: Hosts, number: int) -> None:
    """It leaves with the reason `signal`, and exits 0."""
    it = host()
    os.kill(it.bridge.pid, number)
    assert it.bridge.wait(ENOUGH_S) == 0
    assert it.place.events("session_left")[-1]["reason"] == "signal"


def test_a_signal_that_the_main_thread_does_not_get(host: Hosts) -> None:
    """It ends an idle bridge at once, though its handler could not run before the wait is over."""
    it = host(opened=False)
    assert it.code("nix") == -32601  # it waits now, for a minute
    (other,) = {int(task) for task in os.listdir(f"/proc/{it.bridge.pid}/task")} - {it.bridge.pid}
    assert ctypes.CDLL(None).tgkill(it.bridge.pid, other, signal.SIGTERM) == 0
    assert it.bridge.wait(GONE_LATE_S) == 0


def test_it_does_not_outlive_its_host_when_the_server_hangs(host: Hosts) -> None:
    """The server is stopped with SIGSTOP: the bridge is gone within a second all the same."""
    it = host()
    pid = int(it.place.redis("INFO", "server").split("process_id:")[1].split()[0])
    os.kill(pid, signal.SIGSTOP)
    try:
        it.send("spawn.request", parent=MAIN, type="task")
        assert it.end_input() < GONE_S
    finally:
        os.kill(pid, signal.SIGCONT)


def test_the_log_is_private_and_small(host: Hosts) -> None:
    """0600 in the state folder; a full one is moved aside, and no prompt or command stands in it."""
    it = host()
    it.call("slash.run", args="pause secret-reason")
    logs = it.place.den.home.logs()
    path = f"{logs}/bridge.log"
    assert os.stat(path).st_mode & 0o777 == 0o600
    with open(path, "a", encoding="utf-8") as file:
        file.write("x" * 1_000_000)
    it.call("session.close", reason="exit")
    until(lambda: os.path.exists(f"{path}.1"), "the log was turned")
    with open(f"{path}.1", encoding="utf-8") as file:
        text = file.read()
    assert it.session in text
    assert "secret-reason" not in text
