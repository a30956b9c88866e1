"""What several commands have in common: their options, where they look, how they report."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from coord.board import Board
from coord.config.load import load
from coord.config.settings import FALLBACK_POLICY, FALLBACK_POLICY_JSON, Settings
from coord.errors import ConfigError, CoordError, Unavailable
from coord.home import Home
from coord.reader import Reader
from coord.server.choose import Choice, choose
from omp_coord.exits import Exit
from omp_coord.say import say

ConfigFile = Annotated[
    str | None,
    typer.Option("--config", metavar="FILE", help="This file instead of the one found from here upwards."),
]
RedisUrl = Annotated[str | None, typer.Option("--redis", metavar="URL", help="This server instead of the one chosen.")]
ScopeName = Annotated[str | None, typer.Option("--scope", metavar="NAME", help="This board instead of the folder's.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object to stdout.")]


@contextmanager
def errors_reported() -> Iterator[None]:
    """Turns the errors of `coord` into lines on stderr and the exit code that stands for them."""
    try:
        yield
    except CoordError as error:
        complain(str(error))
        unusable = Exit.UNAVAILABLE if isinstance(error, Unavailable) else Exit.FAILED
        raise typer.Exit(Exit.USAGE if isinstance(error, ConfigError) else unusable) from None


def complain(text: str) -> None:
    """Each line of `text` on stderr, harmless for a terminal; never an error of its own."""
    for line in text.splitlines():
        say(line)


def working_folder() -> str:
    """The folder this was started in; ConfigError when it was removed meanwhile."""
    try:
        return os.getcwd()
    except OSError:
        raise ConfigError("the working folder does not exist any more: change to one that does.") from None


def found_home() -> Home:
    """The home folder; what there is to say about it is said."""
    home = Home.find(os.environ)
    if home.notice:
        complain(home.notice)
    return home


def found_settings(home: Home, config: str | None, scope: str | None = None) -> Settings:
    """The settings that apply here; what there is to say about them is said. A `scope` that is not the file's own names
    a board that this file says nothing about: then only its server counts."""
    here = working_folder()
    settings = load(here, os.environ, home, named=config, scope=scope)
    if scope is not None and settings.path is not None and load(here, os.environ, home, named=config).scope != scope:
        settings.queues, settings.policy, settings.policy_json = {}, FALLBACK_POLICY, FALLBACK_POLICY_JSON
    if settings.hint:
        complain(settings.hint.removeprefix("omp-coord: "))
    complain("\n".join(f"warning: {text}" for text in settings.warnings))
    return settings


def found_reader(config: str | None, redis: str | None, scope: str | None) -> Reader:
    """Looks at the board that applies here; nothing is started."""
    home = found_home()
    return Reader(found_settings(home, config, scope), home, os.environ, url=redis)


def found_board(reader: Reader) -> Board:
    """The reader's board, for a command that changes it: without a server there is nothing to change."""
    if reader.board is None:
        raise Unavailable(f"no server runs for the scope {reader.settings.scope}: `omp-coord server start` starts one")
    return reader.board


def found_server(home: Home, config: str | None, redis: str | None) -> tuple[Settings, Choice]:
    """The scope's settings and where it lives, for a command that only reads: nothing is started."""
    settings = found_settings(home, config)
    choice = choose(settings, home, os.environ, url=redis, start=False)
    complain("\n".join(choice.notices))
    return settings, choice
