"""What bash, zsh and fish are offered, asked for as their scripts ask."""

from __future__ import annotations

import os
from typing import Any

import pytest

from coord.home import Home
from omp_coord import complete
from tests.cli.den import den_of
from tests.cli.desk import Desk
from tests.cli.place import Place, finished
from tests.waiting import Awake

PATIENCE_S = complete.PATIENCE_S


@pytest.fixture
def offered(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The words that bash is offered at the end of a line; nothing may be said on stderr. They may take their time, but in
    the test that is about it."""
    monkeypatch.setattr(complete, "PATIENCE_S", 30.0)

    def ask(line: str) -> list[str]:
        words = line.split(" ")
        monkeypatch.setenv("_OMP_COORD_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", " ".join(words))
        monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
        out, err = desk.cli()
        assert err == ""
        return out.split()

    return ask


def test_commands_and_options(offered: Any) -> None:
    """The names of commands and of options, also those of `run`."""
    assert {"run", "status", "queue", "config", "server"} <= set(offered("omp-coord "))
    assert offered("omp-coord queue ") == ["list", "cancel"]
    assert offered("omp-coord run --ti") == ["--time-limit"]
    assert offered("omp-coord status --color ") == ["auto", "always", "never"]


def test_queues(offered: Any) -> None:
    """The queues of the file that applies, or of the one that the line names."""
    assert offered("omp-coord run ") == ["lint", "test"]
    assert offered("omp-coord run --lane quick t") == ["test"]
    assert offered("omp-coord queue list l") == ["lint"]
    os.rename(".omp-coord.json", "../other.json")
    assert offered("omp-coord run --config ../other.json l") == ["lint"]


def test_queues_without_a_file(offered: Any, desk: Desk) -> None:
    """Without a file those that are in use on the board."""
    desk.job("a1", "test")
    os.unlink(".omp-coord.json")
    assert offered(f"omp-coord run --scope {desk.scope} ") == ["test"]


def test_lanes(offered: Any) -> None:
    """The lanes of the queue that stands before the option, else of all."""
    assert offered("omp-coord run test --lane ") == ["default", "quick", "slow"]
    assert offered("omp-coord run lint --lane ") == ["default"]
    assert offered("omp-coord run --lane q") == ["quick"]


def test_jobs(offered: Any, desk: Desk) -> None:
    """The jobs of the board by their ids; those whose process is gone are none."""
    desk.job("a1b2", "test")
    desk.job("a9", "test")
    desk.job("dead", "lint", pid=desk.dead_pid())
    assert offered("omp-coord queue cancel ") == ["a1b2", "a9"]
    assert offered("omp-coord queue cancel a1") == ["a1b2"]


def test_pools_and_letters(offered: Any, desk: Desk) -> None:
    """The pools of the file, without one those on the board; the letters of the sessions that are there."""
    desk.session("aa")
    desk.session("dead", pid=desk.dead_pid())
    desk.session("cc")
    assert offered("omp-coord line leave ") == ["work"]
    assert offered("omp-coord line leave --session ") == ["A", "C"]
    assert offered("omp-coord line leave work --session C") == ["C"]
    os.unlink(".omp-coord.json")
    assert offered(f"omp-coord line leave --scope {desk.scope} w") == ["work"]


def test_words_of_others_reach_no_shell(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """zsh and fish show queue and state beside an id, never a label or command, which would go through `eval`."""
    desk.job("a1", "test", label="$(touch pwned) [/bold] 'x")
    monkeypatch.setenv("_TYPER_COMPLETE_ARGS", "omp-coord queue cancel ")
    monkeypatch.setenv("_OMP_COORD_COMPLETE", "complete_zsh")
    assert desk.cli()[0] == '_arguments \'*: :(("a1":"test, running"))\'\n'
    monkeypatch.setenv("_OMP_COORD_COMPLETE", "complete_fish")
    monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
    assert desk.cli()[0] == "a1\ttest, running\n"


@pytest.mark.parametrize("line", ["omp-coord run ", "omp-coord run --lane ", "omp-coord queue cancel ",
                                  "omp-coord line leave ", "omp-coord line leave --session "])  # fmt: skip
def test_a_fault_offers_nothing(offered: Any, line: str) -> None:
    """A broken file, or no server: no words, no error, no traceback."""
    with open(".omp-coord.json", "w") as file:
        file.write("{")
    assert offered(line) == []


def test_a_silent_server_is_not_waited_for(offered: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that takes connections and says nothing costs no more than a moment."""
    monkeypatch.setattr(complete, "PATIENCE_S", PATIENCE_S)
    import socket

    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        with Awake() as clock:
            assert offered(f"omp-coord queue cancel --redis redis://127.0.0.1:{port} ") == []
        assert clock.seconds < 2.5


def test_asking_uses_nothing_up(offered: Any, desk: Desk) -> None:
    """The day's hint at `init` is still said to whoever reads it."""
    os.unlink(".omp-coord.json")
    offered("omp-coord run ")
    assert not [name for name in os.listdir(Home.find(os.environ).cache()) if name.startswith("hint-")]


def test_in_a_real_bash() -> None:
    """The script that --show-completion prints completes a queue in bash."""
    script = """
        eval "$(omp-coord --show-completion bash)"
        COMP_WORDS=(omp-coord run "") COMP_CWORD=2
        _omp_coord_completion omp-coord
        echo "${COMPREPLY[@]}"
    """
    with den_of("from omp_coord import complete; complete.PATIENCE_S = 30.0") as den:
        out, _ = finished(Place(den).sh(script), 0)
        assert out == "q\n"
