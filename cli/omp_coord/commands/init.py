"""`omp-coord init`: a first configuration."""

from __future__ import annotations

import typer

from coord.config.starter import write_starter
from coord.errors import ConfigError
from coord.names import clean
from omp_coord.exits import Exit
from omp_coord.shared import complain, working_folder


def init() -> None:
    """Write a starter .omp-coord.json here, with queues for the build tools that the folder shows.

    A file that is there already is never changed.

    \b
    Examples:
      omp-coord init
      omp-coord init && omp-coord config check

    \b
    Exit codes: 0 written, 1 there is one already or the folder cannot be written.
    """
    try:
        path = write_starter(working_folder())
    except ConfigError as error:
        complain(str(error))
        raise typer.Exit(Exit.FAILED) from None
    typer.echo(f"{clean(path)} is written. Look at it, then try: omp-coord config check")
