"""docs/commands.md names every command, option, exit code and variable, and no other; docs/queues.md can be copied."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from coord.config.validate import validate
from coord.status import Caution, Job, Pause, Pool, QueuePicture, Server, Session, Slot, Status, Waiter
from omp_coord.app import app
from omp_coord.exits import Exit

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def read(*parts: str) -> str:
    with open(os.path.join(ROOT, *parts), encoding="utf-8") as file:
        return file.read()


def walk(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    below = getattr(command, "commands", None)
    if below is None:
        yield " ".join(path), command
    for name, inner in (below or {}).items():
        yield from walk(inner, (*path, name))


PAGE = read("docs", "commands.md")
SECTIONS = {part.partition("\n")[0]: part.partition("\n")[2] for part in re.split(r"^## ", PAGE, flags=re.M)[1:]}
COMMANDS = dict(walk(typer.main.get_command(app)))
LATER = {"OMP_COORD_PORTS", "OMP_COORD_SCRATCH"}


def first_cells(text: str) -> list[str]:
    return [cell for row in re.findall(r"^\| (`.*?) \|", text, re.M) for cell in re.findall(r"`([^`]+)`", row)]


def sources() -> Iterator[str]:
    for folder in ("coord", os.path.join("cli", "omp_coord")):
        for path, _, names in os.walk(os.path.join(ROOT, folder)):
            yield from (read(path, name) for name in names if name.endswith(".py"))


def test_every_command_has_its_section() -> None:
    """The sections are the commands, no more and no less."""
    named = {title.strip("`").removeprefix("omp-coord ") for title in SECTIONS if title.startswith("`omp-coord ")}
    assert named == COMMANDS.keys()


@pytest.mark.parametrize("name", COMMANDS)
def test_options(name: str) -> None:
    """Each command's options stand in its own table, those with a value with that, and no others."""
    shown = [row for row in first_cells(SECTIONS[f"`omp-coord {name}`"]) if row.startswith("--")]
    params = [param for param in COMMANDS[name].params if param.opts[0].startswith("--") and param.name != "help"]
    assert {row.split()[0] for row in shown} == {param.opts[0] for param in params}
    with_value = {param.opts[0] for param in params if not param.is_flag}
    assert {row.split()[0] for row in shown if " " in row} == with_value


@pytest.mark.parametrize("name", COMMANDS)
def test_exit_codes_of_a_command(name: str) -> None:
    """The page and the help give the same numbers."""
    page = SECTIONS[f"`omp-coord {name}`"].partition("Exit codes:")[2].partition("\n\n")[0]
    said = COMMANDS[name].help.partition("Exit codes:")[2]
    assert sorted(re.findall(r"\b\d+\b", page)) == sorted(re.findall(r"\b\d+\b", said))


def test_the_table_of_exit_codes() -> None:
    """Every code of `Exit`, and the signals that end a wait."""
    shown = {
        int(code) for row in re.findall(r"^\| ([\d, ]+) \|", SECTIONS["Exit codes"], re.M) for code in row.split(",")
    }
    known = {code for name, code in vars(Exit).items() if name.isupper()}
    assert shown == known | {129, 130, 143}


def test_environment() -> None:
    """Every variable that the code names stands there, and no other."""
    found = {name for text in sources() for name in re.findall(r"\bOMP_COORD(?:_[A-Z]+(?:_[A-Z]+)*)?\b", text)}
    assert set(first_cells(SECTIONS["Environment"])) - {"off", "0"} == (found - LATER) | {
        "NO_COLOR",
        "FORCE_COLOR",
        "CI",
    }


def test_the_fields_of_status() -> None:
    """Every field of `status --json` is named, and every code of a warning."""
    words = set(re.findall(r"`([A-Za-z]+)`", SECTIONS["`omp-coord status`"]))
    for part in (Status, Server, Pause, Session, Pool, Waiter, Slot, QueuePicture, Job):
        assert {field.alias for field in part.model_fields.values()} <= words
    codes = re.findall(r"\w+", (Caution.__doc__ or "").partition(":")[2])
    assert "overCap" in codes
    assert set(codes) <= words
    made = {code for text in sources() for code in re.findall(r'\bcaution\(\s*"(\w+)"', text)}
    assert made == set(codes)


@pytest.mark.parametrize("text", re.findall(r"```jsonc\n(.*?)```", read("docs", "queues.md"), re.S))
def test_configurations_that_are_shown(text: str) -> None:
    """They can be copied."""
    validate("docs/queues.md", text.encode())


@pytest.mark.parametrize("page", ["commands.md", "queues.md"])
def test_links(page: str) -> None:
    """Links between pages lead to a page, and to a heading of it."""
    for target, anchor in re.findall(r"\]\(([\w.-]*)(?:#([\w-]+))?\)", read("docs", page)):
        text = read("docs", target or page)
        heads = re.findall(r"^#+ (.*)$", text, re.M)
        assert not anchor or anchor in {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}, (
            anchor
        )
