"""The command `omp-coord`, all but the quick road of `run` (see `__main__`)."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from coord import __version__
from coord.errors import ConfigError, CoordError, Unavailable
from omp_coord.commands.agents import agents
from omp_coord.commands.bridge import bridge
from omp_coord.commands.config import config_app
from omp_coord.commands.init import init
from omp_coord.commands.keys import keys
from omp_coord.commands.line import line_app
from omp_coord.commands.paths import paths
from omp_coord.commands.pause import pause, resume
from omp_coord.commands.plugin import plugin_app
from omp_coord.commands.queue import queue_app
from omp_coord.commands.run import run
from omp_coord.commands.server import server_app
from omp_coord.commands.status import status
from omp_coord.exits import Exit
from omp_coord.say import say
from omp_coord.terminal import STDOUT, close_stdout, open_streams

app = typer.Typer(
    name="omp-coord",
    help="One board for the coding-agent sessions of a project: agents, queues, slots and who holds them.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"omp-coord {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    pass


app.command("run", context_settings={"ignore_unknown_options": True, "allow_extra_args": True})(run)
app.command("status")(status)
app.command("agents")(agents)
app.add_typer(queue_app, name="queue")
app.add_typer(line_app, name="line")
app.command("pause")(pause)
app.command("resume")(resume)
app.add_typer(config_app, name="config")
app.command("init")(init)
app.add_typer(server_app, name="server")
app.command("keys")(keys)
app.command("paths")(paths)
app.add_typer(plugin_app, name="plugin")
app.command("bridge")(bridge)


def main() -> int:
    """Runs a command; every error is one line on stderr and an exit code."""
    open_streams()
    try:
        code = app(standalone_mode=False, prog_name="omp-coord")
    except ConfigError as error:
        return _fail(error, Exit.USAGE)
    except Unavailable as error:
        return _fail(error, Exit.UNAVAILABLE)
    except CoordError as error:
        return _fail(error, Exit.FAILED)
    except OSError as error:
        return _system(error)
    except Exception as error:
        return _usage(error)
    return code if isinstance(code, int) else Exit.OK


def _system(error: OSError) -> int:
    """What the system refused, and where."""
    what = str(error.strerror or error)
    if error.filename != STDOUT:
        name = error.filename  # a number where a descriptor was opened
        say(f"{os.fsdecode(name)}: {what}" if isinstance(name, (str, bytes)) else what)
        return Exit.FAILED
    close_stdout()
    if not isinstance(error, BrokenPipeError):  # nobody reads it any more: nothing to say, as with other tools
        say(f"stdout cannot be written: {what}")
    return Exit.FAILED


def _usage(error: Exception) -> int:
    """What is wrong with the words of the command line, in one line. (Where typer keeps the class of these errors has
    changed between its versions, so they are known by what they can do.)"""
    if not hasattr(error, "format_message") or not hasattr(error, "exit_code"):
        raise error
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()  # type: ignore[attr-defined]
        return Exit.USAGE
    context = getattr(error, "ctx", None)
    where = f" ({context.command_path} --help)" if context else ""
    say(" ".join(error.format_message().split()) + where)
    return int(error.exit_code)


def _fail(error: CoordError, code: int) -> int:
    for line in str(error).splitlines():
        say(line)
    return code
