"""Sessions that are not on the board: why, and how they come onto it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable

from tests.bridge.host import GONE_S, Host, running
from tests.bridge.test_sessions import sessions, slots
from tests.cli.den import NOBODY
from tests.cli.place import Place
from tests.servers import Server, short_folder
from tests.waiting import until

Hosts = Callable[..., Host]


def works_apart(it: Host) -> None:
    """Spawns go on, unseen by anybody, with no notice for each; `/coord` and the tool say why."""
    assert it.spawn(key="W0") == {
        "allowed": True, "coordinated": False, "pool": None, "used": 0, "cap": None, "allowance": None,
    }  # fmt: skip
    assert it.call("agent.started", session=it.name, id="W0", parent={"id": "Main", "kind": "main"}, type="task") == {
        "allowance": None
    }
    assert it.call("agents.sync", agents=[running("W0")]) == {"allowance": None}
    assert it.texts("error") == []


def test_no_file(host: Hosts, place: Place) -> None:
    """`noConfig`; when a file is written the session joins with all that runs, and its host is told."""
    os.unlink(place.path(".omp-coord.json"))
    it = host(opened=False)
    result = it.open()
    assert (result["active"], result["code"]) == (False, "noConfig")
    assert f"no .omp-coord.json in {place.folder}" in result["reason"]
    assert [tool["name"] for tool in result["tools"]] == ["coord_status"]
    works_apart(it)
    for text in (
        it.call("slash.run", args="")["text"],
        it.call("tool.call", agent="Main", name="coord_status")["text"],
        it.call("slash.run", args="pause")["text"],
    ):
        assert text.startswith("omp-coord is not active in this session (noConfig): no .omp-coord.json")
    assert it.call("tool.call", agent="Main", name="coord_pause")["isError"]
    place.config(agents={"pools": {"work": {"cap": 2}}})
    joined = it.until_told("joined")
    assert (joined["active"], joined["label"], joined["env"]) == (True, "A", {"OMP_COORD_SESSION": joined["session"]})
    it.until_told("notify", "omp-coord is active now: this is session A")
    assert slots(place) == {"W0": "running"}
    it.session = joined["session"]
    assert it.spawn()["coordinated"]


def test_an_invalid_file(host: Hosts, place: Place) -> None:
    """`badConfig`, with the place of the error; a file that is still wrong is told, a valid one joins."""
    place.write(".omp-coord.json", '{"scope": "x",\n "agents": {"pools": {"work": {"cap": "two"}}}}')
    it = host(opened=False)
    result = it.open()
    assert (result["active"], result["code"]) == (False, "badConfig")
    assert "agents.pools.work.cap" in result["reason"]
    works_apart(it)
    place.write(".omp-coord.json", '{"scope": "x",\n')
    place.config(agents={"pools": {"work": {"cap": 1}}})
    assert it.until_told("joined")["footer"] == "coord A · work 1/1"


def test_switched_off(host: Hosts, place: Place) -> None:
    """`off`: no board, no server, no notes, whatever becomes of the file."""
    it = host(opened=False, OMP_COORD="off")
    result = it.open()
    assert (result["active"], result["code"]) == (False, "off")
    works_apart(it)
    assert it.end_input() < GONE_S
    assert sessions(place) == {}


def test_another_protocol(host: Hosts) -> None:
    """`upgrade`, naming both numbers; the same bridge opens for a host that speaks this one."""
    it = host(opened=False)
    result = it.open(protocol=2)
    assert (result["active"], result["code"]) == (False, "upgrade")
    assert "protocol 2" in result["reason"]
    assert "speaks 1" in result["reason"]
    assert it.open()["active"]


def test_a_newer_board(host: Hosts, place: Place) -> None:
    """`upgrade` too: what a newer omp-coord made is left alone."""
    place.redis("HSET", place.board.keys.meta, "schema", "9")
    result = host(opened=False).open()
    assert (result["active"], result["code"]) == (False, "upgrade")
    assert "update this one" in result["reason"]


def test_no_server(host: Hosts) -> None:
    """`noServer` with what was tried; the footer says that it is offline."""
    it = host(opened=False, OMP_COORD_REDIS_URL=NOBODY)
    result = it.open()
    assert (result["active"], result["code"]) == (False, "noServer")
    assert "127.0.0.1:1" in result["reason"]
    it.until_footer("coord offline")
    works_apart(it)
    assert "noServer" in it.call("slash.run", args="pause")["text"]
    assert it.end_input() < GONE_S


def test_a_server_that_comes_later(place: Place) -> None:
    """The session joins when there is one, with all that runs."""
    folder = short_folder()
    url = f"unix://{folder}/s.sock"
    it = Host(place, OMP_COORD_REDIS_URL=url)
    assert it.open()["code"] == "noServer"
    works_apart(it)
    with Server("redis7", folder=folder) as server:
        assert server.url == url
        assert it.until_told("joined")["footer"] == "coord A · work 1/2"
        assert it.end_input() < GONE_S
    shutil.rmtree(folder)


def test_a_file_that_goes_away_changes_nothing(host: Hosts, place: Place) -> None:
    """What was agreed stays for a running session, whatever happens to the file; its scope stays, too."""
    it = host()
    it.run("W0")
    place.write(".omp-coord.json", json.dumps({"scope": "another", "agents": {"pools": {"work": {"cap": 1}}}}))
    it.until_footer("coord A · work 1/1")
    os.unlink(place.path(".omp-coord.json"))
    assert it.spawn()["cause"] == "full"
    assert list(sessions(place)) == ["A"]


def test_a_file_that_goes_away_while_there_is_no_server(place: Place) -> None:
    """Its session does not come onto the board with the server, under rules that nobody gives any more: it waits for a file.
    An invalid one is said."""
    folder = short_folder()
    hosts = [Host(place, name, OMP_COORD_REDIS_URL=f"unix://{folder}/s.sock") for name in ("gone", "bad", "good")]
    for host in hosts:
        os.mkdir(place.path(host.name))
        assert written(host, place, 2).open(cwd=place.path(host.name))["code"] == "noServer"
    gone, bad, good = hosts
    gone.until_footer("coord offline")
    os.unlink(place.path(".omp-coord.json"))
    os.unlink(place.path("gone/.omp-coord.json"))
    place.write("bad/.omp-coord.json", "{")
    gone.until_footer("")
    until(lambda: "noConfig" in gone.call("slash.run", args="pause")["text"], "the file is missed")
    assert "bad/.omp-coord.json" in bad.until_told("notify")["text"]
    with Server("redis7", folder=folder):
        assert good.until_told("joined")["label"] == "A"
        written(gone, place, 3)
        assert gone.until_told("joined")["footer"] == "coord B · work 0/2"
        written(bad, place, 1)
        assert bad.until_told("joined")["footer"] == "coord C · work 0/1"
        assert [len(host.told("joined")) for host in hosts] == [1, 1, 1]
        for host in hosts:
            assert host.end_input() < GONE_S
    shutil.rmtree(folder)


def written(host: Host, place: Place, cap: int) -> Host:
    """The host, with a configuration in the folder that is named as it is."""
    rules = {"scope": place.scope, "agents": {"pools": {"work": {"cap": cap}}}}
    place.write(f"{host.name}/.omp-coord.json", json.dumps(rules))
    return host
