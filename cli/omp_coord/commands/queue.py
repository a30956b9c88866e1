"""`omp-coord queue`: the queues, and how to take a job out of one."""

from __future__ import annotations

import typer

queue_app = typer.Typer(help="The queues: who runs, who waits, cancel.", no_args_is_help=True, rich_markup_mode=None)


@queue_app.command("list")
def list_() -> None:
    """List the queues."""
