"""`omp-coord status`: the board."""

from __future__ import annotations

import json
import os
from typing import Annotated, Any

import typer

from coord.board_text import board_text
from coord.reader import Reader
from omp_coord import terminal
from omp_coord.shared import AsJson, ConfigFile, RedisUrl, ScopeName, errors_reported, found_home, found_settings
from omp_coord.terminal import Colour, ColourOption


def status(
    as_json: AsJson = False,
    watch: Annotated[bool, typer.Option("--watch", help="Go on, and show it again when it changes.")] = False,
    scope: ScopeName = None,
    config: ConfigFile = None,
    redis: RedisUrl = None,
    color: ColourOption = Colour.AUTO,
) -> None:
    """Show the board: sessions, pools with their lines, queues with what runs and
    waits in them.

    Without a server it is empty; nothing is started. With --watch the picture is redrawn on a terminal; elsewhere a
    block follows for each change, with --json one object in a line of its own.

    \b
    Examples:
      omp-coord status
      omp-coord status --watch
      omp-coord status --json | jq '.pools.work.line'

    \b
    Exit codes: 0 shown (also when no server runs), 2 configuration or URL not
    usable, 69 the server does not answer, 130 --watch was ended with Ctrl-C.
    """
    with errors_reported():
        home = found_home()
        reader = Reader(found_settings(home, config, scope), home, os.environ, url=redis)
        if watch:
            _watch(reader, as_json, terminal.coloured(color))
            return
        picture = reader.picture()
        reader.close()
        terminal.write(as_document(picture) if as_json else _tables(picture, terminal.coloured(color)))


def _watch(reader: Reader, as_json: bool, colour: bool) -> None:
    from omp_coord.watch import watch

    def block(picture: dict[str, Any]) -> str:
        return as_line(picture) if as_json else _tables(picture, colour) + ("" if in_place else "\n")

    in_place = terminal.is_terminal() and not as_json
    watch(reader, block, in_place=in_place)


def _tables(picture: dict[str, Any], colour: bool) -> str:
    return board_text(picture, width=terminal.size()[0], colour=colour)


def as_document(picture: dict[str, Any]) -> str:
    return json.dumps(picture, ensure_ascii=False, indent=2) + "\n"


def as_line(picture: dict[str, Any]) -> str:
    return json.dumps(picture, ensure_ascii=False, separators=(",", ":")) + "\n"
