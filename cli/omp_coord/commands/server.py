"""`omp-coord server`: the server in use, and the embedded one."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from typing import Annotated, Any, NoReturn

import typer

from coord.errors import Unavailable
from coord.home import Home
from coord.names import clean
from coord.server import embedded, pids
from coord.wire.url import hide_password
from omp_coord.exits import Exit
from omp_coord.shared import AsJson, ConfigFile, RedisUrl, complain, errors_reported, found_home, found_server

server_app = typer.Typer(help="The server in use: start, stop, look, ask.", no_args_is_help=True, rich_markup_mode=None)


@server_app.command()
def start() -> None:
    """Start the embedded server, when it does not run already.

    Commands that need a server start it themselves; this is for those who want it up before.

    \b
    Examples:
      omp-coord server start
      omp-coord server start && omp-coord server status

    \b
    Exit codes: 0 it runs now or ran already, 69 it could not be started.
    """
    with errors_reported():
        home = found_home()
        started = embedded.start(home, os.environ, wait=15.0)
        if started.notice:
            complain(started.notice)
        already = " already" if started.already else ""
        typer.echo(f"The embedded server{already} runs at {clean(started.url)}{_process(home)}.")


@server_app.command()
def stop(
    force: Annotated[bool, typer.Option("--force", help="Also while sessions or jobs live on it.")] = False,
) -> None:
    """Stop the embedded server. Its data stays, and the next command that needs it starts it again.

    \b
    Examples:
      omp-coord server stop
      omp-coord server stop --force

    \b
    Exit codes: 0 stopped or none ran, 1 somebody lives on it, 69 it does not end.
    """
    with errors_reported():
        home = found_home()
        _refuse_if_lived_on(home, force)
        stopped = embedded.stop(home, force=force)
        typer.echo("The embedded server is stopped." if stopped else "No embedded server runs.")


def _refuse_if_lived_on(home: Home, force: bool) -> None:
    from coord.server import people

    url = None if force else embedded.url(home)
    living = people.on(url) if url else []
    if living:
        complain("the embedded server is in use; --force stops it all the same:")
        for line in living:
            complain(f"  {line}")
        raise typer.Exit(Exit.FAILED)


@server_app.command()
def status(config: ConfigFile = None, redis: RedisUrl = None, as_json: AsJson = False) -> None:
    """Show on which server this scope lives and how that one is.

    \b
    Examples:
      omp-coord server status
      omp-coord server status --json

    \b
    Exit codes: 0 shown (also when none runs), 2 configuration or URL not
    usable, 69 the server named does not answer.
    """
    from coord.server.facts import facts

    with errors_reported():
        home = found_home()
        settings, choice = found_server(home, config, redis)
        seen = facts(home, settings.scope, choice)
        seen["url"] = hide_password(seen["url"]) if seen["url"] else None
        typer.echo(json.dumps(seen, indent=2) if as_json else _sentence(seen))


def _sentence(seen: dict[str, Any]) -> str:
    if not seen["running"]:
        return f"No server runs for the scope {seen['scope']}; the first `omp-coord run` starts one."
    kind = " (embedded)" if seen["embedded"] else ""
    lines = [f"The scope {seen['scope']} lives on {seen['url']}{kind}."]
    words = {
        "program": "{}",
        "pid": "process {}",
        "uptimeSeconds": "up {} s",
        "clients": "{} clients",
        "memoryBytes": "{} bytes",
        "evictionPolicy": "eviction: {}",
        "log": "log: {}",
    }
    lines += [words[name].format(seen[name]) for name in words if seen[name] is not None]
    return "\n  ".join(map(clean, lines))


@server_app.command(context_settings={"ignore_unknown_options": True})
def cli(
    words: Annotated[list[str] | None, typer.Argument(metavar="WORDS", help="One command.")] = None,
    config: ConfigFile = None,
    redis: RedisUrl = None,
) -> None:
    """Speak with the scope's server: one command, or a prompt without one.

    This is redis-cli where it is installed, with what it needs to get there, and a small one of our own
    elsewhere.

    \b
    Examples:
      omp-coord server cli PING
      omp-coord server cli HGETALL 'coord:{my-app}:meta'

    \b
    Exit codes: 0 answered, 1 the server answered with an error, 2 configuration
    or URL not usable, 69 no server. Where redis-cli is installed: its own.
    """
    from coord.server import shell

    with errors_reported():
        settings, choice = found_server(found_home(), config, redis)
        if choice.url is None:
            raise Unavailable(
                f"no server runs for the scope {clean(settings.scope)}; `omp-coord server start` starts one"
            )
        program = shell.program(os.environ)
        reached = shell.redis_cli(choice.url)
        if program and reached:
            _become(program, [*reached[0], *(words or [])], reached[1])
        raise typer.Exit(Exit.OK if _ask(shell.Shell(choice.url), words) else Exit.FAILED)


def _become(program: str, words: list[str], secret: dict[str, str]) -> NoReturn:
    sys.stdout.flush()
    os.execve(program, [program, *words], {**os.environ, **secret})  # noqa: S606 - no shell is wanted


def _ask(shell: Any, words: list[str] | None) -> bool:
    raw = not sys.stdout.isatty()
    try:
        if words:
            text, fine = shell.run(words, raw=raw)
            typer.echo(text)
            return bool(fine)
        return bool(shell.loop(_prompted() if sys.stdin.isatty() else sys.stdin, typer.echo, raw=raw))
    finally:
        shell.close()


def _prompted() -> Iterator[str]:
    import readline  # noqa: F401 - importing it gives `input` editing and a history

    while True:
        try:
            yield input("redis> ")
        except (EOFError, KeyboardInterrupt):
            typer.echo("")
            return


@server_app.command()
def compose() -> None:
    """Print a Docker Compose file with a Redis that omp-coord finds on port 6379 by itself.

    \b
    Examples:
      omp-coord server compose > docker-compose.yml
      omp-coord server compose | docker compose -f - up -d redis

    \b
    Exit codes: 0.
    """
    from coord.server.compose import TEXT

    typer.echo(TEXT, nl=False)


def _process(home: Home) -> str:
    pid = pids.read(home).get("server")
    return f" (process {pid})" if pid else ""
