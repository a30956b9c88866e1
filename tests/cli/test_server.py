"""`omp-coord server`, `keys` and `paths`."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import typer

from coord.home import Home
from coord.keys import KEYS, Keys
from coord.machine import machine_id, start_of
from coord.server import decide, embedded, pids, shell
from coord.wire import connect
from omp_coord.commands.keys import keys
from omp_coord.commands.paths import paths
from omp_coord.commands.server import server_app
from tests.cli.invoking import invoke
from tests.servers import KINDS, Server, free_port, short_folder, start_patiently

Run = Callable[..., Any]

app = typer.Typer()
app.add_typer(server_app, name="server")
app.command()(keys)
app.command()(paths)


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The working folder, with a configuration, and a home beside it."""
    start_patiently(monkeypatch)
    path = short_folder()
    os.mkdir(path + "/work")
    with open(path + "/work/.omp-coord.json", "w") as file:
        file.write('{"scope": "app", "queues": {"lint": {"slots": 1}}}')
    monkeypatch.chdir(path + "/work")
    for name in [name for name in os.environ if name.startswith("OMP_COORD_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("OMP_COORD_HOME", path + "/home")
    monkeypatch.setattr(decide, "LOCAL_URL", f"redis://127.0.0.1:{free_port()}")
    yield path
    shutil.rmtree(path)


@pytest.fixture
def home(folder: str) -> Iterator[Home]:
    found = Home.find(os.environ)
    yield found
    embedded.stop(found, force=True)


@pytest.fixture
def run(home: Home) -> Run:
    def typed(*words: str, code: int = 0, stdin: str = "") -> Any:
        result = invoke(app, words, stdin)
        assert result.exit_code == code, result.output + result.stderr
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result

    return typed


def move_in(home: Home, member: str, key: str, record: dict[str, object]) -> None:
    link = connect(embedded.start(home, os.environ).url)
    link.call("ZADD", Keys("app").leases, 1, member)
    link.call("HSET", Keys("app").prefix + key, member[2:], json.dumps(record))
    link.close()


def test_start_twice(run: Run, home: Home) -> None:
    """The first start says where it runs and, once, how to stop it; a second one is no fault."""
    first = run("server", "start")
    assert embedded.url(home) in first.stdout
    assert "omp-coord server stop" in first.stderr
    second = run("server", "start")
    assert "already runs" in second.stdout
    assert second.stderr == ""


def test_start_without_a_program(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """No program: one line, exit 69."""
    monkeypatch.setenv("OMP_COORD_REDIS_SERVER", "/none")
    result = run("server", "start", code=69)
    assert result.stderr == "omp-coord: OMP_COORD_REDIS_SERVER cannot be used: /none is not a program\n"
    assert result.stdout == ""


def test_stop(run: Run, home: Home) -> None:
    """Stopping stops; when nothing runs that is said and no fault."""
    run("server", "start")
    assert run("server", "stop").stdout == "The embedded server is stopped.\n"
    assert embedded.url(home) is None
    assert run("server", "stop").stdout == "No embedded server runs.\n"


def test_stop_with_somebody_there(run: Run, home: Home) -> None:
    """With a live job or session on it, of any scope, it is not stopped and they are named; --force stops
    it."""
    process = {"pid": os.getpid(), "start": start_of(os.getpid()), "instance": "i"}
    move_in(
        home, "j|j1", "jobs", {"queue": "lint", "command": "ruff \x1b[31m", "machine": machine_id(), "process": process}
    )
    move_in(home, "s|s1", "sessions", {"label": "A"})
    result = run("server", "stop", code=1)
    assert "--force" in result.stderr
    assert f"job j1 (lint: ruff , process {os.getpid()}) of the scope app" in result.stderr
    assert "session A of the scope app" in result.stderr
    assert embedded.url(home) is not None
    run("server", "stop", "--force")
    assert embedded.url(home) is None


def test_stop_with_only_the_dead(run: Run, home: Home) -> None:
    """A job whose process is gone keeps nobody from stopping."""
    process = {"pid": os.getpid(), "start": "1", "instance": "i"}
    move_in(home, "j|j1", "jobs", {"queue": "lint", "command": "x", "machine": machine_id(), "process": process})
    run("server", "stop")


def test_status_without_a_server(run: Run, home: Home) -> None:
    """Looking starts nothing: no server, URL null, exit 0."""
    assert "No server runs for the scope app" in run("server", "status").stdout
    seen = json.loads(run("server", "status", "--json").stdout)
    assert (seen["version"], seen["scope"], seen["url"], seen["running"]) == (1, "app", None, False)
    assert not os.path.exists(home.machine)


def test_status_of_the_embedded(run: Run, home: Home) -> None:
    """It says where the scope lives, which program that is, and where its log is."""
    run("server", "start")
    seen = json.loads(run("server", "status", "--json").stdout)
    assert (seen["url"], seen["embedded"], seen["running"]) == (embedded.url(home), True, True)
    assert seen["pid"] == pids.read(home)["server"]
    assert seen["evictionPolicy"] == "noeviction"
    assert os.path.exists(seen["log"])
    text = run("server", "status").stdout
    for word in ("app", str(embedded.url(home)), str(seen["pid"]), seen["program"]):
        assert word in text


@pytest.mark.parametrize("kind", KINDS)
def test_status_of_a_named_one(run: Run, kind: str, folder: str) -> None:
    """A named server is looked at with its password hidden, also by a user who may not ask INFO."""
    with Server(kind, folder=folder) as server:
        server.send(b"ACL SETUSER me on >hush resetchannels ~coord:* &coord:* +@all -info -config")
        result = run("server", "status", "--json", "--redis", f"redis://me:hush@127.0.0.1:{server.port}")
        seen = json.loads(result.stdout)
        assert (seen["url"], seen["embedded"], seen["program"]) == (server.tcp, False, None)
        assert "hush" not in result.output + result.stderr


@pytest.mark.parametrize(
    ("url", "code", "text"),
    [
        ("redis://:hush@127.0.0.1:{port}", 69, "nothing listens there"),
        ("nonsense", 2, "not a server URL"),
    ],
)
def test_bad_server(run: Run, url: str, code: int, text: str) -> None:
    """A dead server is exit 69, a malformed URL exit 2: one line each, without the password."""
    for words in (["server", "status"], ["server", "cli", "PING"], ["keys"]):
        result = run(*words, "--redis", url.format(port=free_port()), code=code)
        assert result.stderr.count("\n") == 1
        assert text in result.stderr
        assert "hush" not in result.stderr


def test_cli_without_redis_cli(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without redis-cli one command is answered plainly, and an error reply is exit 1."""
    monkeypatch.setattr(shell, "program", lambda env: None)
    run("server", "start")
    assert run("server", "cli", "HSET", "h", "a", "1", "b", "2").stdout == "2\n"
    assert run("server", "cli", "HGETALL", "h").stdout == "a\n1\nb\n2\n"
    assert run("server", "cli", "HGET", "h", "none").stdout == "\n"
    assert "unknown command" in run("server", "cli", "NOPE", code=1).stdout


def test_cli_reads_lines(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a command it takes one per line, quoted as in a shell."""
    monkeypatch.setattr(shell, "program", lambda env: None)
    run("server", "start")
    result = run("server", "cli", stdin="SET k 'a b'\n\nGET k\nquit\nGET never\n")
    assert result.stdout == "OK\na b\n"
    assert run("server", "cli", stdin="GET 'x\n", code=1).stdout == "Invalid argument(s)\n"


def test_cli_is_redis_cli(run: Run, home: Home) -> None:
    """Where redis-cli is installed it takes over, options of its own included."""
    if shell.program(os.environ) is None:
        pytest.skip("no redis-cli here")
    run("server", "start")
    code = "import sys; from omp_coord.commands.server import server_app; server_app(sys.argv[1:])"
    done = subprocess.run(
        [sys.executable, "-c", code, "cli", "--no-raw", "ECHO", "hi"], capture_output=True, text=True, check=True
    )
    assert done.stdout == '"hi"\n'


def test_cli_without_a_server(run: Run, home: Home) -> None:
    """It starts nothing: without a server exit 69 and how to start one."""
    assert "omp-coord server start" in run("server", "cli", "PING", code=69).stderr
    assert pids.read(home) == {}


@pytest.mark.parametrize(
    ("url", "words", "secret"),
    [
        ("unix:///a/b%20c", ["-s", "/a/b c"], {}),
        ("redis://h", ["-h", "h", "-p", "6379"], {}),
        ("redis://u:p@h:1/2", ["-h", "h", "-p", "1", "--user", "u", "-n", "2"], {"REDISCLI_AUTH": "p"}),
        ("rediss://:p@h", ["-h", "h", "-p", "6379", "--tls"], {"REDISCLI_AUTH": "p"}),
        ("redis+cluster://h:1,i:2", ["-h", "h", "-p", "1", "-c"], {}),
    ],
)
def test_arguments_of_redis_cli(url: str, words: list[str], secret: dict[str, str]) -> None:
    """Each kind of URL is told to redis-cli, and a password never stands among the arguments."""
    assert shell.redis_cli(url) == (words, secret)


def test_sentinel_needs_our_own() -> None:
    """redis-cli does not follow a Sentinel."""
    assert shell.redis_cli("redis+sentinel://h:1/main") is None


@pytest.mark.parametrize(
    ("answer", "shown", "piped"),
    [
        (None, "(nil)", ""),
        (3, "(integer) 3", "3"),
        (True, "(true)", "1"),
        ("OK", "OK", "OK"),
        ('a "b"\n\x1b', '"a \\"b\\"\\n\\x1b"', 'a "b"\n\x1b'),
        ([], "(empty array)", ""),
        (["a", ["b", 1]], '1) "a"\n2) 1) "b"\n   2) (integer) 1', "a\nb\n1"),
        ({"k": "v"}, '1) "k"\n2) "v"', "k\nv"),
        ([str(n) for n in range(10)], None, None),
    ],
)
def test_answers_look_like_redis_cli(answer: object, shown: str | None, piped: str | None) -> None:
    """Answers look as redis-cli shows them, on a terminal and in a pipe."""
    if shown is None:
        assert shell.formatted(answer).splitlines()[0] == ' 1) "0"'
    else:
        assert (shell.formatted(answer), shell.plain(answer)) == (shown, piped)


def test_compose(run: Run) -> None:
    """The compose file printed is the one in the repository: local only, AOF on a volume, no eviction, health
    check."""
    text = run("server", "compose").stdout
    with open(os.path.join(os.path.dirname(__file__), "..", "..", "docker-compose.yml")) as file:
        assert text == file.read()
    for word in ("redis:", '"127.0.0.1:6379:6379"', "appendonly", "noeviction", "healthcheck", "unless-stopped"):
        assert word in text


def test_keys(run: Run, home: Home) -> None:
    """One quoted redis-cli line per key of the board, each of which works."""
    before = run("keys")
    assert "no server runs now" in before.stderr
    assert pids.read(home) == {}
    move_in(home, "j|j1", "jobs", {"queue": "lint"})
    lines = run("keys").stdout.splitlines()
    assert lines == before.stdout.splitlines()
    names = [Keys("app")[name] for name in KEYS]
    assert len(lines) == len(names)
    for line, name in zip(lines, names, strict=True):
        words = shlex.split(line)
        assert name in words
        assert f"'{name}'" in line
        assert words[0] == "redis-cli"
    if shell.program(os.environ):
        script = "\n".join(line.replace("redis-cli", shell.program(os.environ) or "", 1) for line in lines)
        done = subprocess.run(["sh", "-e", "-c", script], capture_output=True, text=True, check=True)
        assert '{"queue": "lint"}' in done.stdout
        assert "ERR" not in done.stdout


def test_paths(run: Run, folder: str, home: Home) -> None:
    """Every place in use is printed, for people and for programs."""
    seen = json.loads(run("paths", "--json").stdout)
    assert seen["config"] == folder + "/work/.omp-coord.json"
    assert seen["home"] == folder + "/home"
    assert seen["socket"] == home.socket()
    assert seen["record"].startswith(seen["scopes"])
    text = run("paths").stdout
    for name, place in seen.items():
        if name != "version":
            assert f"{place}" in text
            assert name in text


def test_paths_with_a_broken_file(run: Run, folder: str) -> None:
    """A broken configuration does not keep the places from being shown."""
    with open(folder + "/work/.omp-coord.json", "w") as file:
        file.write("{")
    result = run("paths", "--json")
    assert json.loads(result.stdout)["home"] == folder + "/home"
    assert ".omp-coord.json" in result.stderr


def test_temp_folder_is_said(run: Run, monkeypatch: pytest.MonkeyPatch, folder: str) -> None:
    """Without a usable home the temp folder in use is said; `paths` says it each time."""
    monkeypatch.delenv("OMP_COORD_HOME")
    monkeypatch.delenv("HOME")
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
    for _ in range(2):
        result = run("paths")
        assert f"omp-coord-{os.geteuid()}" in result.stdout
        assert "HOME is not set" in result.stderr


@pytest.mark.parametrize("name", ["start", "stop", "status", "cli", "compose"])
def test_help(run: Run, name: str) -> None:
    """Each command's help has two examples and its exit codes."""
    text = run("server", name, "--help").stdout
    assert text.count(f"omp-coord server {name}") >= 2
    assert "Exit codes: 0" in text


@pytest.mark.parametrize("name", ["keys", "paths"])
def test_help_of_the_others(run: Run, name: str) -> None:
    """The same for keys and paths."""
    text = run(name, "--help").stdout
    assert text.count(f"omp-coord {name}") >= 2
    assert "Exit codes: 0" in text
