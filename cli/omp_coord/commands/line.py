"""`omp-coord line`: the lines of the pools."""

from __future__ import annotations

import os
import time
from typing import Annotated, NoReturn

import typer

from coord.answers import Ended
from coord.errors import ConfigError
from coord.names import clean, nearest
from coord.reader import Reader
from coord.view.reading import Reading
from omp_coord import complete
from omp_coord.asking import who_is_there
from omp_coord.exits import Exit
from omp_coord.shared import ConfigFile, RedisUrl, ScopeName, complain, errors_reported, found_board, found_reader

line_app = typer.Typer(help="The lines of the pools: leave one.", no_args_is_help=True, rich_markup_mode=None)


@line_app.callback()
def _lines() -> None:
    """The lines of the pools: leave one."""


@line_app.command()
def leave(
    pool: Annotated[
        str | None,
        typer.Argument(metavar="POOL", help="Only this pool's line.", autocompletion=complete.pools),
    ] = None,
    session: Annotated[
        str | None,
        typer.Option(
            "--session", metavar="SESSION", autocompletion=complete.letters,
            help="Whose place, by letter or id; else that of OMP_COORD_SESSION.",
        ),
    ] = None,
    scope: ScopeName = None,
    config: ConfigFile = None,
    redis: RedisUrl = None,
) -> None:  # fmt: skip
    """Give back a session's place in the line of a pool, or the slot that is held for it; the next one is served at once.

    \b
    Examples:
      omp-coord line leave
      omp-coord line leave work --session B

    \b
    Exit codes: 0 left; 1 it stood in no such line, or has ended already; 2 no
    such session or pool, several sessions begin like that, none was named,
    configuration or URL not usable; 69 no server, or it does not answer.
    """
    with errors_reported():
        reader = found_reader(config, redis, scope)
        reading = reader.read()
        board = found_board(reader)
        found = _find(clean(session or os.environ.get("OMP_COORD_SESSION", "")), reading, reader)
        _check(pool, reader.picture()["pools"])
        answer = board.line_leave(found, pool or "")
        left = answer.fields.get("pools", "").split()
        letter = clean(reading.sessions[found]["label"])
        if left:
            typer.echo(f"Session {letter} has left the line of {', '.join(map(clean, left))}.")
        elif answer.verdict == "left":
            _fail(f"session {letter} is not in the line of {pool}" if pool else f"session {letter} is in no line")
        else:
            _fail(f"session {letter} has ended")


def _find(wanted: str, reading: Reading, reader: Reader) -> str:
    """The id of the session with that letter or id, or whose id begins like that."""
    there = who_is_there(reading.sessions)
    if not wanted:
        raise ConfigError(f"this is no session's terminal: say whose place with --session. {there}")
    letters = [id for id, one in reading.sessions.items() if one["label"] == wanted.upper()]
    found = [wanted] if wanted in reading.sessions else letters
    found = found or [id for id in reading.sessions if id.startswith(wanted)]
    if len(found) == 1:
        return found[0]
    if len(found) > 1:
        raise ConfigError(f"{len(found)} sessions begin with {clean(wanted[:80])}. {there}")
    # Its own word changes nothing without its token, but the answer tells an ended session from one that never was.
    answer = found_board(reader).session_leave(wanted, "", "exit")
    if isinstance(answer, Ended):
        at = time.strftime("%H:%M:%S", time.localtime(answer.at / 1000))
        cause = f" ({clean(answer.cause)})" if answer.cause else ""
        _fail(f"the session {clean(wanted[:80])} has ended already, at {at}{cause}: it is in no line")
    raise ConfigError(f"there is no session {clean(wanted[:80])}. {there}")


def _check(pool: str | None, known: dict[str, object]) -> None:
    if pool is None or pool in known:
        return
    near = nearest(pool, known)
    guess = f' Did you mean "{near}"?' if near else ""
    there = f"Known: {', '.join(known)}." if known else "There are no pools."
    raise ConfigError(f'there is no pool "{clean(pool[:80])}".{guess} {there}')


def _fail(text: str) -> NoReturn:
    complain(text)
    raise typer.Exit(Exit.FAILED)
