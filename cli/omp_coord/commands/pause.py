"""`omp-coord pause` and `resume`: everybody of the scope."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from coord.names import clean
from omp_coord import terminal
from omp_coord.asking import asker
from omp_coord.shared import AsJson, ConfigFile, RedisUrl, ScopeName, errors_reported, found_board, found_reader

LONGEST = 200


def pause(
    reason: Annotated[str, typer.Argument(metavar="REASON", help="Why; all sessions are told.")] = "",
    as_json: AsJson = False,
    scope: ScopeName = None,
    config: ConfigFile = None,
    redis: RedisUrl = None,
) -> None:
    """Pause the whole scope: no new agents, no new jobs out of the queues. What runs, runs on; what waits keeps its place.

    Paused again, the new reason counts. It stays until somebody resumes, whoever paused it.

    \b
    Examples:
      omp-coord pause
      omp-coord pause "the disk is full"

    \b
    Exit codes: 0 paused, 2 configuration or URL not usable, 69 no server, or
    it does not answer.
    """
    with errors_reported():
        reader = found_reader(config, redis, scope)
        by, label = asker(reader.read())
        found_board(reader).board_pause(by, label=label, reason=clean(reason)[:LONGEST])
        picture = reader.picture()
        if as_json:
            fields = {name: picture[name] for name in ("version", "scope", "now", "paused")}
            terminal.write(json.dumps(fields, ensure_ascii=False, indent=2) + "\n")
        else:
            typer.echo(f"Paused: no new agents and jobs in the scope {picture['scope']}. `omp-coord resume` lifts it.")


def resume(scope: ScopeName = None, config: ConfigFile = None, redis: RedisUrl = None) -> None:
    """Lift a pause: lines and queues are served at once, holds go on where they stopped.

    \b
    Examples:
      omp-coord resume
      omp-coord resume --scope app

    \b
    Exit codes: 0 nothing is paused now (also when nothing was), 2
    configuration or URL not usable, 69 no server, or it does not answer.
    """
    with errors_reported():
        reader = found_reader(config, redis, scope)
        by, label = asker(reader.read())
        was = found_board(reader).board_resume(by, label=label).fields["was"]
        typer.echo("Resumed: agents and jobs start again." if was else "It was not paused.")
