"""`omp-coord run` as its help and the shells' completions see it; the command itself is `omp_coord.run_command`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from omp_coord import complete


def run(
    queue: Annotated[
        str, typer.Argument(metavar="QUEUE", help="The queue whose slot to take.", autocompletion=complete.queues)
    ],
    command: Annotated[list[str], typer.Argument(metavar="-- COMMAND [ARG]...", help="What to run, behind `--`.")],
    lane: Annotated[
        str | None,
        typer.Option(
            "--lane", metavar="L", help="The lane of the queue; default: default.", autocompletion=complete.lanes
        ),
    ] = None,
    time_limit: Annotated[
        str | None,
        typer.Option("--time-limit", metavar="TIME", help="End the command after this time, counted from its start."),
    ] = None,
    wait: Annotated[
        str | None, typer.Option("--wait", metavar="TIME", help="Wait so long for a slot; default: for ever.")
    ] = None,
    no_wait: Annotated[bool, typer.Option("--no-wait", help="Do not wait: run now or not at all.")] = False,
    label: Annotated[
        str | None, typer.Option("--label", metavar="TEXT", help="Shown and stored instead of the command.")
    ] = None,
    owner: Annotated[
        str | None, typer.Option("--owner", metavar="ID", help="Who shares fairly with others; default: this terminal.")
    ] = None,
    agent: Annotated[
        str | None, typer.Option("--agent", metavar="ID", help="The agent on whose behalf this runs.")
    ] = None,
    config: Annotated[
        str | None,
        typer.Option("--config", metavar="FILE", help="This file instead of the one found from here upwards."),
    ] = None,
    redis: Annotated[
        str | None, typer.Option("--redis", metavar="URL", help="This server instead of the one chosen.")
    ] = None,
    scope: Annotated[
        str | None, typer.Option("--scope", metavar="NAME", help="This board instead of the folder's.")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Without a server do not run the command: exit 69.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Say nothing while waiting; errors are still said.")] = False,
) -> None:
    """Wait for a slot of QUEUE, run COMMAND, give the slot back, and end as the command did.

    The command has this terminal, folder, stdin, stdout and stderr. Options stand before `--`. TIME is 500ms, 90s, 10m,
    1h30m or a number of seconds. The command finds OMP_COORD_QUEUE, OMP_COORD_JOB, OMP_COORD_LANE and OMP_COORD_FENCE
    in its environment.

    \b
    Examples:
      omp-coord run lint -- ruff check .
      omp-coord run --lane quick --wait 10m --time-limit 5m test -- pytest -x tests/unit

    \b
    Exit codes: the command's own; 128 + n when signal n ended it; 124 time
    limit; 126 not executable; 127 not found; 75 no slot within --wait, or the
    wait was cancelled; 69 no server, with --strict; 143 ended by `queue cancel
    --kill`; 2 usage or configuration; 1 a fault of the board; 130, 143, 129
    when INT, TERM, HUP came while it waited.
    """
    from omp_coord.run_command import main

    words = sys.argv[1:]
    sys.exit(main(words[words.index("run") + 1 :]))
