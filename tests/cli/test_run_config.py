"""The configuration changes while jobs wait and run, and whatever is wrong with it."""

from __future__ import annotations

import os

import pytest

from tests.cli.den import AS_FOR_USERS, NOBODY, Den, den_of
from tests.cli.place import Place, finished, marked, most_at_once, one_line
from tests.servers import Server, free_port
from tests.waiting import Awake, until


def test_slots_raised_while_waiting(place: Place) -> None:
    """Raising the slots in the file serves the line without any release."""
    gate = place.held()
    waiting = [place.run("--quiet", "q", "--", "echo", "ran") for _ in range(2)]
    place.until_jobs(2, "waiting")
    place.queues(q={"slots": 3})
    for proc in waiting:
        assert finished(proc, 0) == ("ran\n", "")
    assert len(place.jobs("running")) == 1
    gate.open()
    place.expect_empty()


def test_slots_lowered_while_running(place: Place) -> None:
    """Lowering the slots stops new grants until the running ones are fewer; those run on."""
    place.queues(q={"slots": 2})
    gates = [place.held(), place.held()]
    waiting = place.run("--quiet", "q", "--", *marked())
    place.until_jobs(1, "waiting")
    place.queues(q={"slots": 1})
    # (A policy counts as long as one of its users lives: were it told by one job only, it would end with that.)
    old = place.jobs()[0]["policy"]
    until(lambda: all(job["policy"] != old for job in place.jobs()), "every job's beat has told the board")
    gates[0].open()
    place.until_jobs(1, "running")
    place.until_jobs(1, "waiting")
    finished(place.run("--no-wait", "q", "--", "true"), 75)
    gates[1].open()
    finished(waiting, 0)
    assert most_at_once(place.lines("marks")) == 1
    place.expect_empty()


@pytest.mark.parametrize(
    "broken", ["{", '{"scope": "x", "queues": {"q": {"slots": 0}}}', '{"scope": "x", "queues": {"p": {"slots": 1}}}']
)
def test_broken_while_waiting(place: Place, broken: str) -> None:
    """A file that becomes invalid while jobs wait is reported once, and the old one stays in force; mended, it counts."""
    gate = place.held()
    waiting = place.run("--quiet", "q", "--", "echo", "ran")
    place.until_jobs(1, "waiting")
    place.write(".omp-coord.json", broken)
    assert waiting.stderr is not None
    line = waiting.stderr.readline()
    assert line.startswith("omp-coord: the changed ")
    assert "is not used" in line
    assert len(place.jobs("running")) == 1
    place.queues(q={"slots": 2})
    assert finished(waiting, 0) == ("ran\n", "")
    gate.open()
    place.expect_empty()


def test_file_removed_while_waiting(place: Place) -> None:
    """A file that is removed changes nothing for who waits."""
    gate = place.held()
    waiting = place.run("--quiet", "q", "--", "echo", "ran")
    place.until_jobs(1, "waiting")
    os.unlink(place.path(".omp-coord.json"))
    gate.open()
    assert finished(waiting, 0) == ("ran\n", "")


def test_two_files_for_one_scope(place: Place) -> None:
    """Two checkouts with different files: the smaller number of slots applies while both have jobs."""
    place.queues(q={"slots": 3})
    other = Place(place.den)
    other.scope = place.scope
    other.queues(q={"slots": 1})
    gates = [place.held(), place.held()]
    finished(other.run("--no-wait", "q", "--", "true"), 75)
    waiting = other.run("--quiet", "q", "--", "true")
    place.until_jobs(1, "waiting")
    finished(place.run("--no-wait", "q", "--", "true"), 75)
    for gate in gates:
        gate.open()
    finished(waiting, 0)
    other.close()


BAD_FILES = {
    "not JSON": ("{", ".omp-coord.json"),
    "a list": ("[]", ".omp-coord.json"),
    "no scope": ('{"queues": {"q": {"slots": 1}}}', "scope"),
    "no slots": ('{"scope": "x", "queues": {"q": {}}}', "queues.q.slots"),
    "slots 0": ('{"scope": "x", "queues": {"q": {"slots": 0}}}', "queues.q.slots"),
    "unknown key": ('{"scope": "x", "queues": {"q": {"slot": 1, "slots": 1}}}', "slots"),
    "twice": ('{"scope": "x", "scope": "y", "queues": {"q": {"slots": 1}}}', "scope"),
    "binary": ("\x00\x01\x02", ".omp-coord.json"),
    "huge": ('{"scope": "' + "x" * (1 << 20) + '"}', "MiB"),
    "deep": ("[" * 100_000, ".omp-coord.json"),
    "variable": (
        '{"scope": "x", "queues": {"q": {"slots": 1}}, "redis": {"url": "${NO_SUCH_VARIABLE}"}}',
        "NO_SUCH_VARIABLE",
    ),
    "bad URL": ('{"scope": "x", "queues": {"q": {"slots": 1}}, "redis": {"url": "ftp://x"}}', "ftp"),
}


@pytest.mark.parametrize("what", BAD_FILES)
def test_broken_file(place: Place, what: str) -> None:
    """A broken configuration: 2, one line that names file and place, no traceback, nothing run, nothing on any board."""
    content, says = BAD_FILES[what]
    before = set(place.redis("KEYS", "*"))
    place.write(".omp-coord.json", content)
    out, err = finished(place.run("q", "--", "echo", "ran"), 2)
    assert out == ""
    assert says in one_line(err)
    assert len(err) < 2000
    assert set(place.redis("KEYS", "*")) == before


def test_unreadable_file(place: Place) -> None:
    """A configuration that cannot be read is one line and 2."""
    os.unlink(place.path(".omp-coord.json"))
    os.mkdir(place.path(".omp-coord.json"))
    out, err = finished(place.run("q", "--", "echo", "ran"), 2)
    assert out == ""
    assert ".omp-coord.json" in one_line(err)


def test_world_writable_file(place: Place) -> None:
    """A file that anybody may write is ignored with a warning, and the job runs as with no file."""
    os.chmod(place.path(".omp-coord.json"), 0o666)
    out, err = finished(place.run("--quiet", "other", "--", "echo", "ran"), 0)
    assert out == "ran\n"
    assert ".omp-coord.json" in err.splitlines()[0]


def test_very_long_home(own_den: Den) -> None:
    """A state folder whose path is too long for a socket: the server still starts, elsewhere."""
    place = Place(own_den)
    env = {"OMP_COORD_HOME": f"{own_den.folder}/{'long' * 30}", "TMPDIR": own_den.folder}
    out, err = finished(place.run("q", "--", "echo", "ran", env=env), 0)
    assert out == "ran\n"
    assert "without coordination" not in err
    finished(place.start(own_den.command, "server", "stop", "--force", env=env), 0)


def test_no_program_for_a_server(own_den: Den) -> None:
    """No server program to be had: the job runs, one line says why; `--strict` is 69."""
    place = Place(own_den)
    env = {"OMP_COORD_REDIS_SERVER": "/no/such/program"}
    out, err = finished(place.run("q", "--", "echo", "ran", env=env), 0)
    assert out == "ran\n"
    assert "/no/such/program" in one_line(err)
    assert finished(place.run("--strict", "q", "--", "echo", "ran", env=env), 69)[0] == ""


@pytest.fixture(scope="module")
def locked() -> object:
    """A server with a password."""
    with Server("valkey9", "--requirepass", "right") as server:
        yield server


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("unix://{socket}", "password"),
        ("unix://:wrong@{socket}", "password"),
        ("redis://:wrong@127.0.0.1:{port}", "password"),
        (NOBODY, "127.0.0.1:1"),
        ("unix:///no/such/socket", "/no/such/socket"),
        ("redis://no-such-host.invalid:6379", "no-such-host.invalid"),
    ],
)
def test_server_that_cannot_be_used(place: Place, locked: Server, url: str, says: str) -> None:
    """Wrong password, refused, unknown host: the job runs with one line and its own code; `--strict` is 69. The line
    never shows a password."""
    url = url.format(socket=locked.socket, port=locked.port)
    out, err = finished(place.run("--redis", url, "q", "--", "sh", "-c", "echo ran; exit 3"), 3)
    assert out == "ran\n"
    assert says in one_line(err).replace("WRONGPASS", "password").replace("NOAUTH", "password")
    assert "wrong" not in err
    _, err = finished(place.run("--strict", "--redis", url, "q", "--", "echo", "ran"), 69)
    assert "wrong" not in one_line(err)


@pytest.mark.parametrize(
    "answer", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"SSH-2.0-OpenSSH\r\n", b"", b"-ERR \x1b[31mno\r\n" * 9]
)
def test_port_that_speaks_something_else(place: Place, answer: bytes) -> None:
    """A port that speaks something else than Redis: the job runs, one line says so, without a traceback."""
    port = free_port()
    script = (
        "import socket,sys\n"
        f"s = socket.create_server(('127.0.0.1', {port})); print('up', flush=True)\n"
        f"while True: c = s.accept()[0]; c.recv(100); c.sendall({answer!r}); c.close()"
    )
    listener = place.start("python3", "-c", script)
    assert listener.stdout is not None
    assert listener.stdout.readline() == "up\n"
    out, err = finished(place.run("--redis", f"redis://127.0.0.1:{port}", "q", "--", "echo", "ran"), 0)
    assert out == "ran\n"
    assert str(port) in one_line(err)
    assert "\x1b" not in err


def test_port_that_says_nothing() -> None:
    """A port that accepts and says nothing costs 3 s at most; then the job runs."""
    port = free_port()
    script = f"import socket,time; s = socket.create_server(('127.0.0.1', {port})); print('up', flush=True); time.sleep(1000)"
    with den_of(AS_FOR_USERS) as den:
        place = Place(den)
        listener = place.start("python3", "-c", script)
        assert listener.stdout is not None
        listener.stdout.readline()
        with Awake() as clock:
            out, err = finished(place.run("--redis", f"redis://127.0.0.1:{port}", "q", "--", "sh", "-c", "echo ran"), 0)
        assert clock.seconds < 6  # twice of it would be a fault; a busy machine adds to each of our steps
        assert out == "ran\n"
        assert str(port) in one_line(err)


def test_server_too_old(place: Place) -> None:
    """A server that is too old is refused by its version."""
    port = free_port()
    script = f"""
import socket
s = socket.create_server(('127.0.0.1', {port})); print('up', flush=True)
while True:
    c = s.accept()[0]
    while data := c.recv(1000):
        if b'INFO' in data:
            text = b'redis_version:5.0.14\\r\\n'
            c.sendall(b'$%d\\r\\n%s\\r\\n$-1\\r\\n:0\\r\\n' % (len(text), text))
        else:
            c.sendall(b'-ERR unknown command\\r\\n')
"""
    listener = place.start("python3", "-c", script)
    assert listener.stdout is not None
    listener.stdout.readline()
    out, err = finished(place.run("--redis", f"redis://127.0.0.1:{port}", "q", "--", "echo", "ran"), 0)
    assert out == "ran\n"
    assert "5.0.14" in one_line(err)
    until(lambda: not place.left(), "nothing is left on the board")
