"""`omp-coord status --watch`."""

from __future__ import annotations

import json
import signal
import subprocess
from typing import Any

from tests.cli.place import Place, finished
from tests.coord.run.stage import Terminal
from tests.servers import Server
from tests.waiting import until


def watching(place: Place, *words: str, **options: Any) -> subprocess.Popen[str]:
    return place.start(place.den.command, "status", "--watch", *words, **options)


def next_line(proc: subprocess.Popen[str]) -> dict[str, Any]:
    assert proc.stdout is not None
    return json.loads(proc.stdout.readline())  # type: ignore[no-any-return]


def test_one_object_for_each_change(place: Place) -> None:
    """--json: the picture at once, then one line whenever it changes, and no line when only time goes by."""
    proc = watching(place, "--json")
    assert next_line(proc)["queues"]["q"]["running"] == []
    gate = place.held()
    first = next_line(proc)
    while not first["queues"]["q"]["running"]:
        first = next_line(proc)
    place.board.board_sweep()
    gate.open()
    last = next_line(proc)
    while last["queues"]["q"]["running"]:
        assert last != first
        last = next_line(proc)
    assert last["now"] > first["now"]


def test_blocks_without_a_terminal(place: Place) -> None:
    """Tables follow each other with an empty line between, without a control character."""
    proc = watching(place)
    assert proc.stdout is not None
    lines = iter(proc.stdout.readline, "")
    until(lambda: next(lines).startswith("Nothing runs."), "the first block")
    assert next(lines) == "\n"
    place.held()
    assert next(lines).startswith(f"Board {place.scope} ")
    block = [next(lines) for _ in range(6)]
    assert "Command" in block[-2]
    assert all(line.rstrip("\n").isprintable() for line in block)


def test_ends_when_nobody_reads(place: Place) -> None:
    """`| head -1` is no fault: exit 0, nothing on stderr, although nothing changes any more."""
    out, err = finished(
        place.sh("omp-coord status --json --watch | head -c 20; echo \" ${PIPESTATUS[0]}\""), 0
    )  # fmt: skip
    assert (out, err) == ('{"version":1,"scope" 0\n', "")


def test_a_signal_ends_it_as_such(place: Place) -> None:
    """INT, TERM and HUP end it by themselves, so that a shell sees 130, 143 and 129; nothing is said."""
    for signo in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        proc = watching(place, "--json")
        next_line(proc)
        proc.send_signal(signo)
        assert finished(proc, -signo) == ("", "")


def test_an_ignored_interrupt_stays_ignored(place: Place) -> None:
    """Started in the background by a script, where INT is ignored, it is not ended by it."""
    proc = place.sh("trap '' INT; exec omp-coord status --json --watch")
    next_line(proc)
    proc.send_signal(signal.SIGINT)
    place.held()
    assert next_line(proc)["version"] == 1
    proc.terminate()
    finished(proc, -signal.SIGTERM)


def test_on_a_terminal(place: Place) -> None:
    """It is drawn over on the terminal's other screen, Ctrl-Z and Ctrl-C give the first one back with its cursor."""
    terminal = place.terminal()
    terminal.type("omp-coord status --watch\n")
    terminal.expect("\x1b[?1049h\x1b[?25l")
    terminal.expect("Nothing runs.")
    terminal.type("\x1a")
    terminal.expect("\x1b[?25h\x1b[?1049l")
    terminal.expect("ready> ")
    terminal.type("fg\n")
    terminal.expect("\x1b[?1049h\x1b[?25l")
    place.held()
    terminal.expect("running")
    terminal.type("\x03")
    terminal.expect("\x1b[?25h\x1b[?1049l")
    terminal.expect("ready> ")
    terminal.type("echo code $?\n")
    terminal.expect("code 130")


def test_more_lines_than_the_terminal_has(place: Place) -> None:
    """What does not fit is counted in the last line, and nothing scrolls."""
    place.env.update(LINES="6", COLUMNS="80")
    terminal = Terminal([place.den.command, "status", "--watch"], place.env, place.folder)
    place.terminals.append(terminal)
    place.held()
    terminal.expect("… 2 more lines\x1b[K\x1b[J")


def test_a_server_that_goes_and_comes_back(place: Place) -> None:
    """While it is away that is shown; when it is back the board is shown again."""
    with Server("valkey9") as server:
        away = Place(place.den, server.url)
        proc = watching(away, "--json")
        try:
            assert next_line(proc)["server"]["reachable"] is True
            server.kill()
            lost = next_line(proc)
            assert (lost["server"]["url"], lost["server"]["reachable"]) == (server.url, False)
            server.restart()
            assert next_line(proc)["server"]["reachable"] is True
        finally:
            away.close()


def test_a_server_that_is_started_later(own_place: Place) -> None:
    """Watching without a server starts none, and finds the one that the first `run` starts."""
    proc = watching(own_place, "--json")
    assert next_line(proc)["server"]["url"] is None
    finished(own_place.run("q", "--", "true"), 0)
    assert next_line(proc)["server"]["embedded"] is True


def test_a_wrong_server_is_no_reason_to_wait(place: Place) -> None:
    """One that was named and does not answer at the start: exit 69."""
    _, err = finished(watching(place, "--redis", "redis://127.0.0.1:1"), 69)
    assert err.count("\n") == 1
