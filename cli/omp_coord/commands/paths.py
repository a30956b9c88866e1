"""`omp-coord paths`: every place in use."""

from __future__ import annotations

import json
import os

import typer

from coord.config.find import find
from coord.config.load import load
from coord.errors import ConfigError
from coord.home import Home
from coord.names import clean
from coord.server import embedded, record
from omp_coord.shared import AsJson, ConfigFile, complain, found_home, working_folder


def paths(config: ConfigFile = None, as_json: AsJson = False) -> None:
    """Print every file and folder that omp-coord uses here; what is not there yet is made when it is needed.

    \b
    Examples:
      omp-coord paths
      omp-coord paths --json

    \b
    Exit codes: 0.
    """
    home = found_home()
    places = _places(home, config)
    if home.reason and not home.notice:
        complain(f"a temp folder is in use: {home.reason} (OMP_COORD_HOME names a better place)")
    if as_json:
        typer.echo(json.dumps({"version": 1, **places}, indent=2))
        return
    width = max(map(len, places))
    for name, place in places.items():
        typer.echo(f"{name:<{width}}  {clean(place) if place else '-'}")


def _places(home: Home, config: str | None) -> dict[str, str | None]:
    file, where = _of_scope(home, config)
    server = home.machine + "/server"
    return {
        "config": file,
        "home": home.root,
        "machine": home.machine,
        "cache": home.root + "/cache",
        "trust": home.root + "/trust",
        "scopes": home.machine + "/scopes",
        "record": where,
        "epochs": home.machine + "/epochs",
        "server": server,
        "socket": embedded.socket(home),
        "logs": home.machine + "/logs",
    }


def _of_scope(home: Home, config: str | None) -> tuple[str | None, str | None]:
    """The configuration file and the record of its scope. A broken file is no reason to show nothing."""
    try:
        here = working_folder()
        file = find(here, os.environ, config)[0]
        settings = load(here, os.environ, home, named=config)
    except ConfigError as error:
        complain(str(error))
        return None, None
    if settings.hint:
        complain(settings.hint.removeprefix("omp-coord: "))
    return file, record.path(home, settings.scope)
