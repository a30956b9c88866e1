"""`omp-coord bridge` as its help sees it; it is started without this, by `omp_coord.bridge_command`."""

from __future__ import annotations

import sys

import typer


def bridge() -> None:
    """Stand for a session of the coding agent: JSON-RPC lines on stdin and stdout (for plugins, not for people).

    It joins the board at `session.open`, answers spawn checks, and leaves when its standard input ends. Its log is
    `logs/bridge.log` in the state folder (`omp-coord paths`).

    \b
    Examples:
      omp-coord bridge
      omp-coord bridge < requests.jsonl > answers.jsonl

    \b
    Exit codes: 0 at the end of its input or a signal; 2 usage.
    """
    from omp_coord.bridge_command import main

    raise typer.Exit(main(sys.argv[2:]))
