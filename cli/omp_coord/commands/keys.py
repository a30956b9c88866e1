"""`omp-coord keys`: the board with nothing but redis-cli."""

from __future__ import annotations

import typer

from coord.errors import Unavailable
from coord.home import unavailable
from coord.server import embedded
from coord.server.shell import key_lines
from omp_coord.shared import ConfigFile, RedisUrl, complain, errors_reported, found_home, found_server


def keys(config: ConfigFile = None, redis: RedisUrl = None) -> None:
    """Print a ready redis-cli line for each key of this scope's board.

    \b
    Examples:
      omp-coord keys
      omp-coord keys | grep jobs | sh

    \b
    Exit codes: 0 printed, 2 configuration or URL not usable, 69 the server
    named does not answer.
    """
    with errors_reported():
        home = found_home()
        settings, choice = found_server(home, config, redis)
        if choice.url is None:
            complain("no server runs now; these lines are for the embedded one")
            try:
                choice.url = embedded.url_of(home.socket())
            except OSError as error:
                raise unavailable(error) from error
        lines = key_lines(choice.url, settings.scope)
        if not lines:
            raise Unavailable("redis-cli cannot be told to follow a Sentinel; use `omp-coord server cli`")
        for line in lines:
            typer.echo(line)
