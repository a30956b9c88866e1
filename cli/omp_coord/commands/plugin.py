"""`omp-coord plugin`: the omp plugin that comes along with the command."""

from __future__ import annotations

import json
import os
from typing import Any

import typer

from coord import __version__, plugin_folder
from coord.errors import CoordError
from coord.names import clean
from omp_coord import host
from omp_coord.exits import Exit
from omp_coord.shared import AsJson, complain, errors_reported

plugin_app = typer.Typer(help="The plugin for omp: link it, look at it.", no_args_is_help=True, rich_markup_mode=None)
Found = list[host.Installed]


@plugin_app.callback()
def _plugin() -> None:
    """The plugin for omp: link it, look at it."""


@plugin_app.command()
def path() -> None:
    """Print the folder of the plugin that this command carries.

    \b
    Examples:
      omp-coord plugin path
      omp-coord plugin path && omp plugin link "$(omp-coord plugin path)"

    \b
    Exit codes: 0 printed; 1 this installation has no plugin in it.
    """
    with errors_reported():
        typer.echo(plugin_folder.folder())


@plugin_app.command()
def install() -> None:
    """Link the plugin into omp, for this user; sessions that start afterwards have it.

    Done again it changes nothing but an old link. Where the plugin was
    installed from a marketplace, that one stays and this does nothing.

    \b
    Examples:
      omp-coord plugin install
      omp-coord plugin install && omp-coord plugin status

    \b
    Exit codes: 0 linked; 1 no omp, omp failed, installed from a marketplace, or
    no plugin in this installation.
    """
    with errors_reported():
        folder, version = plugin_folder.folder(), plugin_folder.version()
        found = host.installed()
        if other := [one for one in found if one.how == "marketplace"]:
            complain(f"omp has the plugin from a marketplace already; to renew it: omp plugin upgrade {other[0].id}")
            raise typer.Exit(Exit.FAILED)
        host.plugin("link", folder)
        typer.echo(f"The plugin {clean(version)} is linked into omp: omp plugin link {clean(folder)}")
        for one in found:
            if one.path != os.path.realpath(folder):
                typer.echo(f"Before it was the plugin {clean(one.version)} in {clean(one.path)}.")
        typer.echo("omp sessions that start from now on have it, in every folder below an .omp-coord.json.")


@plugin_app.command()
def uninstall() -> None:
    """Take the plugin out of omp, linked or from a marketplace; running sessions keep it until they end.

    \b
    Examples:
      omp-coord plugin uninstall
      omp-coord plugin uninstall && pipx uninstall omp-coord

    \b
    Exit codes: 0 omp does not have it, also when it had not; 1 no omp, or omp
    failed.
    """
    with errors_reported():
        found = host.installed()
        for one in found:
            words = ["uninstall", one.id, *(["--scope", one.scope] if one.how == "marketplace" else [])]
            host.plugin(*words)
            typer.echo(f"The plugin is taken out of omp: omp plugin {' '.join(words)}")
        if not found:
            typer.echo("omp does not have the plugin.")


@plugin_app.command()
def status(as_json: AsJson = False) -> None:
    """Show whether omp has the plugin, from where, and whether its version is that of this command.

    \b
    Examples:
      omp-coord plugin status
      omp-coord plugin status --json

    \b
    Exit codes: 0 shown, also without omp or plugin; 1 omp cannot be asked.
    """
    with errors_reported():
        picture = _picture()
    if as_json:
        typer.echo(json.dumps(picture, indent=2))
        return
    for name, text in _lines(picture):
        typer.echo(f"{name:<9}{clean(text)}")


def _picture() -> dict[str, Any]:
    """`command.path` is what the plugin starts; `agree` is null while omp has no plugin."""
    found = host.installed() if host.program() else []
    return {
        "version": 1,
        "command": {"version": __version__, "path": host.command()},
        "carried": _carried(),
        "omp": host.program(),
        "installed": [
            {"how": one.how, "version": one.version, "path": one.path, "enabled": one.enabled, "id": one.id}
            for one in found
        ],
        "agree": all(one.version == __version__ for one in found) if found else None,
    }


def _carried() -> dict[str, str] | None:
    try:
        return {"version": plugin_folder.version(), "path": plugin_folder.folder()}
    except CoordError:
        return None


def _lines(picture: dict[str, Any]) -> list[tuple[str, str]]:
    carried, found = picture["carried"], picture["installed"]
    lines = [
        ("command", f"{picture['command']['version']}  {picture['command']['path'] or 'not on PATH'}"),
        ("carries", f"{carried['version']}  {carried['path']}" if carried else "no plugin: install omp-coord again"),
        ("omp", picture["omp"] or "not on PATH"),
    ]
    for one in found:
        off = "" if one["enabled"] else ", disabled"
        lines.append(("in omp", f"{one['version']}  {one['path']} ({one['how']}{off})"))
    return [*lines, ("", _verdict(picture))]


def _verdict(picture: dict[str, Any]) -> str:
    """What to do, if anything."""
    found = picture["installed"]
    if not picture["omp"]:
        return "Without omp there is nothing to link the plugin into."
    if not found:
        return "omp does not have the plugin; this gives it to it: omp-coord plugin install"
    if len(found) > 1:
        return "omp has it more than once; keep one: omp-coord plugin uninstall, then omp-coord plugin install"
    if not picture["command"]["path"]:
        return "The plugin does not find the command: add its folder to PATH, or name it in OMP_COORD_BIN."
    if not picture["agree"]:
        market = found[0]["how"] == "marketplace"
        line = f"omp plugin upgrade {found[0]['id']}" if market else "omp-coord plugin install"
        return f"Command and plugin differ. To bring them together: {line}"
    return "Command and plugin are of one version."
