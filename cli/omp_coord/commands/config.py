"""`omp-coord config`: check a configuration, print its schema, trust its server."""

from __future__ import annotations

import json
import os
from typing import Any

import typer

from coord.config.find import find
from coord.config.load import load, read_config
from coord.config.settings import Settings
from coord.errors import ConfigError
from coord.home import Home
from coord.names import clean
from coord.wire.url import hide_password
from omp_coord.exits import Exit
from omp_coord.shared import AsJson, ConfigFile, complain, working_folder

config_app = typer.Typer(
    help="Check .omp-coord.json, print its schema, trust the server it names.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@config_app.command()
def check(
    config: ConfigFile = None,
    as_json: AsJson = False,
) -> None:
    """Check the configuration that applies here, and print every error with its place.

    \b
    Examples:
      omp-coord config check
      omp-coord config check --config team.json --json

    \b
    Exit codes: 0 usable (warnings included, and also when there is no file),
    2 not usable.
    """
    report: dict[str, Any] = {
        "version": 1,
        "path": None,
        "scope": None,
        "policy": None,
        "valid": False,
        "trusted": None,
        "errors": [],
        "warnings": [],
    }
    try:
        here = working_folder()
        report["path"], report["warnings"] = find(here, os.environ, config)
        if report["path"] is not None:
            read_config(report["path"])
        _add_settings(report, load(here, os.environ, Home.find(os.environ), named=config))
    except ConfigError as error:
        report["errors"] = _errors(error)
        complain(str(error))
    complain("\n".join(f"warning: {text}" for text in report["warnings"]))
    if as_json:
        typer.echo(json.dumps(report, ensure_ascii=False, indent=2))
    elif report["valid"]:
        typer.echo(_summary(report))
    raise typer.Exit(Exit.OK if report["valid"] else Exit.USAGE)


def _add_settings(report: dict[str, Any], settings: Settings) -> None:
    report.update(valid=True, scope=settings.scope, policy=settings.policy, trusted=settings.trusted)
    if not settings.trusted:
        url = hide_password(settings.redis_url or "")
        report["warnings"].append(
            f"redis.url leaves this machine ({url}) and is not used before `omp-coord config trust`."
        )


def _errors(error: ConfigError) -> list[dict[str, Any]]:
    """The findings of a file, or the one thing that kept it from being read, as data."""
    findings = getattr(error, "findings", None)
    if findings is None:
        return [{"line": None, "column": None, "path": "", "text": str(error)}]
    return [finding._asdict() for finding in findings]


def _summary(report: dict[str, Any]) -> str:
    if report["path"] is None:
        return f"No .omp-coord.json applies here (`omp-coord init` writes one). Scope: {report['scope']}"
    return f"{clean(report['path'])} is valid. Scope: {report['scope']}"


@config_app.command()
def schema() -> None:
    """Print the JSON Schema of .omp-coord.json, for editors and other checkers.

    \b
    Examples:
      omp-coord config schema > omp-coord.schema.json
      omp-coord config schema | jq '.properties | keys'

    \b
    Exit codes: 0.
    """
    from coord.config.schema import schema_text

    typer.echo(schema_text(), nl=False)


@config_app.command()
def trust(config: ConfigFile = None) -> None:
    """Allow the file's redis.url to lead away from this machine, as long as its content stays as it is.

    Commands, messages and paths of this project then go to that server: look at the URL first.

    \b
    Examples:
      omp-coord config trust
      omp-coord config trust --config team.json

    \b
    Exit codes: 0 trusted, or nothing that needs it; 1 no file, or trust cannot
    be kept; 2 file not usable.
    """
    try:
        path, warnings = find(working_folder(), os.environ, config)
        complain("\n".join(f"warning: {text}" for text in warnings))
        if path is None:
            complain("there is no .omp-coord.json here to trust; `omp-coord init` writes one.")
            raise typer.Exit(Exit.FAILED)
        said = _trust(path)
    except ConfigError as error:
        complain(str(error))
        raise typer.Exit(Exit.USAGE) from None
    except OSError as error:
        complain(f"trust cannot be kept: {error.strerror or error}; set OMP_COORD_HOME to a folder of yours.")
        raise typer.Exit(Exit.FAILED) from None
    typer.echo(said)


def _trust(path: str) -> str:
    import hashlib

    from coord.config.redis_url import stays_here, variables
    from coord.config.trust import trust as remember

    parsed, content = read_config(path)
    url = parsed.redis.url
    # With a variable in it, where it leads is known only when it is used.
    if url is None or (not variables(url) and stays_here(url)):
        return f"{clean(path)} names no server beyond this machine: nothing to trust."
    remember(Home.find(os.environ), path, hashlib.sha256(content).hexdigest())
    return f"{clean(path)} is trusted until it changes. Its server: {hide_password(url)}"
