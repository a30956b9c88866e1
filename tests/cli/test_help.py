"""Every command's help, and errors in the words of a command line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from omp_coord import run_options
from omp_coord.app import app
from omp_coord.exits import Exit
from tests.cli.desk import Desk
from tests.cli.place import Place, finished, one_line


def walk(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command of the tree that does something, with the words that name it."""
    below = getattr(command, "commands", None)
    if below is None:
        yield path, command
    for name, inner in (below or {}).items():
        yield from walk(inner, (*path, name))


COMMANDS = dict(walk(typer.main.get_command(app)))


def options_of(command: Any) -> set[str]:
    return {name for param in command.params for name in param.opts if name.startswith("--") and name != "--help"}


def test_the_walk_finds_the_commands() -> None:
    """The tests below would pass for none."""
    assert {("run",), ("status",), ("queue", "cancel"), ("config", "trust"), ("server", "cli")} <= COMMANDS.keys()


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_help(desk: Desk, path: tuple[str, ...]) -> None:
    """Help has two examples of this very command, which name only options that there are, and the exit codes; no line
    is wider than 80 columns, but for an example that would not work in two."""
    out, err = desk.cli(*path, "--help")
    assert err == ""
    assert "[[" not in out.splitlines()[0]
    examples = re.findall(rf"^    (omp-coord {' '.join(path)}\b.*)$", out, re.MULTILINE)
    assert len(examples) >= 2
    for example in examples:
        mine = example.split(" -- ")[0].split(" | ")[0].split(" && ")[0]
        assert set(re.findall(r" (--[\w-]+)", mine)) <= options_of(COMMANDS[path])
    codes = re.search(r"Exit codes: (.*?)\.?\n\n", out + "\n\n", re.DOTALL)
    assert codes
    assert {"0"} <= set(re.findall(r"\b\d+\b", codes[1])) or "own" in codes[1]
    assert max(len(line) for line in out.splitlines() if line.strip() not in examples) <= 80


def test_run_help_is_that_of_the_parser() -> None:
    """`run` is read by hand: its help shows exactly the options that are read, those with a value as such."""
    command = COMMANDS["run",]
    flags = {name for param in command.params if getattr(param, "is_flag", False) for name in param.opts}
    assert options_of(command) == {f"--{name}" for name in (*run_options.VALUES, *run_options.FLAGS)}
    assert flags - {"--help", "-h"} == {f"--{name}" for name in run_options.FLAGS}


def test_run_says_all_its_exit_codes(desk: Desk) -> None:
    """Every code of `Exit` that `run` can end with stands in its help."""
    out, _ = desk.cli("run", "--help")
    codes = out.partition("Exit codes:")[2]
    known = {str(code) for name, code in vars(Exit).items() if name.isupper()} - {"0"}
    assert known | {"129", "130", "143"} <= set(re.findall(r"\b\d+\b", codes))


def test_run_through_typer(desk: Desk) -> None:
    """Whoever gets to `run` through typer gets the real one."""
    desk.cli("run", "--no-such", "lint", "--", "true", code=2)
    assert "put `--` before the command" in desk.cli("run", "lint", "true", code=2)[1]


@pytest.mark.parametrize("word", ["--help", "-h"])
def test_help_of_the_quick_road(place: Place, word: str) -> None:
    """`run`, which does not go through typer, has the same help; behind `--` the word is the command's."""
    assert finished(place.run(word), 0)[0].startswith("Usage: omp-coord run ")
    assert finished(place.run("q", "--", "printf", "%s", word), 0)[0] == word


def test_no_words_at_all(desk: Desk) -> None:
    """Without a command the help is shown, exit 2."""
    out, err = desk.cli(code=2)
    assert "Commands:" in out + err


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["stauts"], "No such command 'stauts'. Did you mean 'status'? (omp-coord --help)"),
        (["status", "--jsn"], "No such option: --jsn"),
        (["status", "--color", "pink"], "Invalid value for '--color'"),
        (["queue", "cancel"], "Missing argument 'JOB'. (omp-coord queue cancel --help)"),
        (["queue", "cancel", "a", "b"], "Got unexpected extra argument"),
        (["status", "--config"], "Option '--config' requires an argument."),
        (["status", "--no\x1b[31m\nsuch"], "No such option: --no"),
    ],
)
def test_usage_errors(desk: Desk, words: list[str], text: str) -> None:
    """Exit 2, nothing on stdout, and one line on stderr without boxes or control characters."""
    out, err = desk.cli(*words, code=2)
    assert out == ""
    assert one_line(err).startswith(text)
    assert err.rstrip("\n").isprintable()
