"""`omp-coord queue`: the queues, and how to take a job out of one."""

from __future__ import annotations

import json
import os
import time
from typing import Annotated, Any, NoReturn

import typer

from coord.answers import Answer, Ended
from coord.board_text import board_text
from coord.errors import ConfigError
from coord.names import clean
from coord.reader import Reader
from coord.view.reading import Reading
from omp_coord import complete, terminal
from omp_coord.exits import Exit
from omp_coord.shared import (
    AsJson,
    ConfigFile,
    RedisUrl,
    ScopeName,
    complain,
    errors_reported,
    found_reader,
)
from omp_coord.terminal import Colour, ColourOption

queue_app = typer.Typer(
    help="The queues: what runs and waits, and cancel it.", no_args_is_help=True, rich_markup_mode=None
)


@queue_app.command("list")
def list_(
    queue: Annotated[
        str | None, typer.Argument(metavar="QUEUE", help="Only this queue.", autocompletion=complete.queues)
    ] = None,
    as_json: AsJson = False,
    scope: ScopeName = None,
    config: ConfigFile = None,
    redis: RedisUrl = None,
    color: ColourOption = Colour.AUTO,
) -> None:
    """List the queues with their jobs: those that run, and those that wait in the order in which they will be served.

    \b
    Examples:
      omp-coord queue list
      omp-coord queue list test --json

    \b
    Exit codes: 0 shown (also when no server runs), 2 no such queue,
    configuration or URL not usable, 69 the server does not answer.
    """
    with errors_reported():
        reader = found_reader(config, redis, scope)
        picture = reader.picture()
        if queue is not None:
            picture = _only(queue, picture, reader)
        if as_json:
            fields = {name: picture[name] for name in ("version", "scope", "now", "queues")}
            terminal.write(json.dumps(fields, ensure_ascii=False, indent=2) + "\n")
        else:
            picture = {**picture, "sessions": [], "pools": {}}
            terminal.write(board_text(picture, width=terminal.size()[0], colour=terminal.coloured(color)))


def _only(queue: str, picture: dict[str, Any], reader: Reader) -> dict[str, Any]:
    if queue not in picture["queues"]:
        # With a file this is an error; without one any name is a queue, of which the board knows nothing now.
        reader.settings.queues[queue] = reader.settings.queue(queue)
        picture = reader.picture()
    return {**picture, "queues": {queue: picture["queues"][queue]}}


@queue_app.command()
def cancel(
    job: Annotated[
        str, typer.Argument(metavar="JOB", help="Its id, or enough of its beginning.", autocompletion=complete.jobs)
    ],
    kill: Annotated[bool, typer.Option("--kill", help="Also when it runs: end its command.")] = False,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Told to whoever waits for it.")] = "",
    scope: ScopeName = None,
    config: ConfigFile = None,
    redis: RedisUrl = None,
) -> None:
    """Take a waiting job out of its line: its `omp-coord run` ends with exit 75 and says by whom and why.

    A job that runs is only ended with --kill: its runner sends TERM to all its processes, KILL to what is left after
    10 seconds, and exits as if TERM had killed it. When the runner is gone and the command lives on, it is ended from
    here.

    \b
    Examples:
      omp-coord queue cancel 3f9a1c2b
      omp-coord queue cancel 3f9a1c2b --kill --reason "wrong branch"

    \b
    Exit codes: 0 cancelled, or its runner was told; 1 no such job, it has
    ended already, it runs and --kill was not given, or its processes cannot be
    ended from here; 2 several jobs begin like that, none was named,
    configuration or URL not usable; 69 the server does not answer.
    """
    with errors_reported():
        job = clean(job).strip()
        if not job:
            raise ConfigError("JOB is empty; `omp-coord queue list` shows the ids")
        reader = found_reader(config, redis, scope)
        reading = reader.read()
        found = _find(job, reading, reader)
        _say_what_came_of_it(found, _cancel(found, reader, kill, reason), reading.jobs.get(found, {}), reader)


def _find(job: str, reading: Reading, reader: Reader) -> str:
    """The id that begins like `job`. One that is not on the board may have ended: then the board is asked for it."""
    if reader.board is None:
        _fail(f"there is no job {job}: no server runs for the scope {reader.settings.scope}")
    found = [job] if job in reading.jobs else [id for id in reading.jobs if id.startswith(job)]
    if len(found) < 2:
        return found[0] if found else job
    complain(f"{len(found)} jobs begin with {job}, give more of the id:")
    for id in sorted(found):
        complain(f"  {id} {reading.jobs[id]['queue']}: {_what(reading.jobs[id])}")
    raise typer.Exit(Exit.USAGE)


def _cancel(job: str, reader: Reader, kill: bool, reason: str) -> Answer:
    from coord.run.asker import terminal as asker

    assert reader.board is not None
    return reader.board.job_cancel(job, by=clean(asker(os.environ)), reason=clean(reason)[:200], kill=kill)


def _say_what_came_of_it(job: str, answer: Answer, record: dict[str, Any], reader: Reader) -> None:
    name = clean(f"job {job} of the queue {record['queue']}" if record else f"job {job}")
    if answer.verdict == "cancelled":
        typer.echo(f"The {name} no longer waits.")
    elif answer.verdict == "running":
        _fail(f"the {name} is {answer.fields['state']} ({_what(record)}); --kill ends it")
    elif isinstance(answer, Ended):
        _fail(f"the {name} has ended already: {_how(answer)}")
    elif answer.verdict != "killing":
        _fail(f"there is no job that begins with {job}; one that has ended is known by its whole id, for an hour")
    elif record.get("state") != "orphaned":
        typer.echo(f"The {name} is being ended: its runner was told.")
    else:
        _end_orphans(job, name, record, reader)


def _end_orphans(job: str, name: str, record: dict[str, Any], reader: Reader) -> None:
    """Ends what is left of a job whose runner is gone; its slot is free when this returns."""
    from coord.liveness import Orphans

    if reader.board is None or record["machine"] != reader.board.machine:
        _fail(f"the runner of the {name} is gone and its processes are on another machine: cancel it there")
    orphans = Orphans()
    orphans.found([{"id": job, "is": "orphaned"}])
    while (due := orphans.tick(time.monotonic())) is not None:
        time.sleep(due)  # orphans are nobody's children, so their end is looked for: TERM, then KILL when it is due
    if job in reader.read().jobs:
        _fail(f"processes of the {name} live on: they cannot be ended")
    typer.echo(f"The {name} is ended: its runner was gone, its processes now are too.")


def _how(answer: Ended) -> str:
    words = {"finished": "it finished", "lost": "it was lost", "left": "it gave up its place"}
    by = f" by {answer.by}" if answer.by else ""
    at = time.strftime("%H:%M:%S", time.localtime(answer.at / 1000))
    cause = f" ({answer.cause})" if answer.cause else ""
    return f"{words.get(answer.how, f'it was {answer.how}')}{by} at {at}{cause}"


def _what(record: dict[str, Any]) -> str:
    return str(record.get("label") or record.get("command") or "?")


def _fail(text: str) -> NoReturn:
    complain(text)
    raise typer.Exit(Exit.FAILED)
