"""What `omp-coord run` imports on its usual way: no more than stands here, since every module costs each job its time. And
what a bridge does without at its start, which goes on beside the host's own."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator

import pytest

from coord.config.scope import scope_of
from coord.server import record
from tests.cli.den import Den, den_of
from tests.cli.place import Place, finished

USUAL = {
    "__future__", "_ctypes", "_json", "_sha1", "_socket", "errno", "fcntl", "select",
    "hiredis", "hiredis.hiredis", "hiredis.version",
    "coord", "coord.answers", "coord.board", "coord.caller", "coord.contact",
    "coord.epoch_note", "coord.errors", "coord.home", "coord.keys", "coord.machine",
    "coord.names", "coord.private", "coord.scripts",
    "coord.config", "coord.config.cache", "coord.config.find", "coord.config.load", "coord.config.settings",
    "coord.run", "coord.run.asker", "coord.run.child", "coord.run.command", "coord.run.job", "coord.run.prctl",
    "coord.run.processes", "coord.run.record", "coord.run.runner", "coord.run.signals", "coord.run.tree", "coord.run.words",
    "coord.server", "coord.server.choose", "coord.server.record",
    "coord.wire", "coord.wire.link", "coord.wire.url",
    "omp_coord", "omp_coord.__main__", "omp_coord.exits", "omp_coord.run_command", "omp_coord.run_options",
    "omp_coord.say", "omp_coord.waiting_line",
}  # fmt: skip
"""Everything that may be imported by a run whose configuration, scripts and server are known, beside what the interpreter
itself has at its start."""

NEVER = (
    "re", "json", "typing", "dataclasses", "enum", "socket", "signal", "subprocess", "pathlib", "argparse", "hashlib",
    "threading", "logging", "contextlib", "functools", "collections", "ctypes", "struct", "tempfile", "shutil", "shlex",
    "pydantic", "typer", "redis", "psutil", "rich", "regex",
)  # fmt: skip
"""Not even one of these on the other ways that are to be quick."""

BRIDGE_NEEDS = {"re", "json", "typing", "enum", "signal", "threading", "contextlib", "functools", "collections"}

SPY = """
import os, sys
sys.path[:0] = {path!r}
before = set(sys.modules)
leave = os._exit
def look(code):
    seen = set(sys.modules) - before
    with open({out!r}, "w") as file:
        file.write("\\n".join(seen))
    leave(code)
os._exit = look
sys.argv[0] = "omp-coord"
from omp_coord.__main__ import main
look(main())
"""


@pytest.fixture(scope="module")
def den() -> Iterator[Den]:
    with den_of() as den:
        den.start()
        yield den


@pytest.fixture
def place(den: Den) -> Iterator[Place]:
    place = Place(den)
    yield place
    place.close()


def imported(place: Place, *words: str, code: int = 0) -> set[str]:
    """The modules that `omp-coord run WORDS` imports in an interpreter that has nothing but itself, when all that can be
    remembered is."""
    finished(place.run("--quiet", "q", "--", "true"), 0)
    os.utime(record.path(place.den.home, place.scope))
    out = place.path("modules")
    script = SPY.format(path=sys.path, out=out)
    program = place.start(sys.executable, "-I", "-S", "-c", script, "run", *words)
    _, err = finished(program, code)
    assert len(err.splitlines()) <= 1, err
    return set(place.lines("modules"))


def test_the_usual_run(place: Place) -> None:
    """A run that gets its slot at once imports exactly this; a new module stands here with the decision to pay for it."""
    found = imported(place, "q", "--", "true")
    new = sorted(found - USUAL)
    spared = sorted(name for name in USUAL - found if name.startswith(("coord", "omp_coord")))
    assert not new, f"imported, and not on the list: {new}"
    assert not spared, f"no longer imported, so take it off the list: {spared}"


OPTIONS = "--lane quick --time-limit 1m --wait 5 --label label --owner me --agent a --quiet"


@pytest.mark.parametrize(
    ("words", "code"),
    [(f"{OPTIONS} q -- true", 0), ("--strict q -- false", 1), ("q -- no-such-command", 127)],
    ids=["options", "a code", "not found"],
)
def test_other_quick_ways(place: Place, words: str, code: int) -> None:
    """Options, a code of its own, a command that is not there: none of the big modules is worth it."""
    place.queues(q={"slots": 1, "lanes": {"quick": {"priority": 1}}, "timeLimit": "10m"})
    found = imported(place, *words.split(), code=code) & set(NEVER)
    assert not found, f"imported: {sorted(found)}"


def test_a_run_without_a_file(place: Place) -> None:
    """Without a configuration a run is as quick."""
    os.unlink(place.path(".omp-coord.json"))
    place.scope = scope_of(place.folder)
    found = imported(place, "q", "--", "true") & set(NEVER)
    assert not found, f"imported: {sorted(found)}"


def test_a_bridge_that_opens(place: Place) -> None:
    """What a session's start does not need is imported later, or by another process."""
    finished(place.run("--quiet", "q", "--", "true"), 0)
    out = place.path("modules")
    opening = {"protocol": 1, "cwd": place.folder, "sessionId": "s", "pid": os.getpid(), "agents": []}
    with open(place.path("requests"), "w", encoding="ascii") as file:
        file.write(json.dumps({"id": 1, "method": "session.open", "params": opening}) + "\n")
    script = SPY.format(path=sys.path, out=out)
    with open(place.path("requests"), "rb") as requests:
        program = place.start(sys.executable, "-I", "-S", "-c", script, "bridge", stdin=requests)
    answers, _ = finished(program, 0)
    assert json.loads(answers.splitlines()[0])["result"]["active"]
    unneeded = set(NEVER) - BRIDGE_NEEDS | {"encodings.idna", "coord.bridge.commands", "coord.config.schema"}
    found = set(place.lines("modules")) & unneeded
    assert not found, f"imported: {sorted(found)}"
