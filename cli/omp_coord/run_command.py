"""`omp-coord run QUEUE -- COMMAND`: reads the words, finds the board, and lets `coord.run` do the rest."""

from __future__ import annotations

import os
import sys

from coord.errors import ConfigError, CoordError, Unavailable
from omp_coord.exits import Exit
from omp_coord.run_options import RunOptions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from coord.contact import Contact
    from coord.run.job import Job


def main(words: list[str]) -> int:
    """The exit code; does not return when the command was ended by a signal."""
    from coord.run.child import keep_std_places

    keep_std_places()
    try:
        options = RunOptions(words)
        if os.environ.get("OMP_COORD") == "off":
            return _just_run(options.argv)
        return _run(options)
    except ConfigError as error:
        return _say(error, Exit.USAGE)
    except Unavailable as error:
        return _say(error, Exit.UNAVAILABLE)
    except CoordError as error:
        return _say(error, Exit.FAILED)


def _run(options: RunOptions) -> int:
    from coord.config.load import load
    from coord.contact import Contact
    from coord.home import Home
    from coord.run.runner import Runner
    from coord.run.signals import Signals, die_by
    from omp_coord.waiting_line import WaitingLine

    home = Home.find(os.environ)
    cwd = _cwd()
    settings = load(cwd, os.environ, home, named=options.config, scope=options.scope)
    lane = options.lane or "default"
    queue = settings.queue(options.queue, lane)
    show = WaitingLine(quiet=options.quiet)
    for text in (home.notice, *settings.warnings, settings.hint):
        if text:
            show.notice(text.removeprefix("omp-coord: "))
    contact = Contact(settings, home, os.environ, url=options.redis)
    with Signals() as signals:
        job = _job(options, contact, lane, queue.time_limit_ms, cwd)
        end = Runner(
            job, options.argv, signals, show, wait_s=options.wait, strict=options.strict, leftovers=queue.leftovers
        ).run()
        show.end()
        _flush()
        if end.signal:
            die_by(end.signal)
        os._exit(end.code)  # the interpreter's own end takes 3 ms


def _job(options: RunOptions, contact: Contact, lane: str, queue_limit_ms: int | None, cwd: str) -> Job:
    from coord.names import clean, redact
    from coord.run.asker import Asker
    from coord.run.job import Job
    from coord.run.record import Record

    asker = Asker(os.environ, contact.settings.scope, owner=options.owner, agent=options.agent)
    label = clean(options.label or "").strip()[:200]  # of blanks alone: none
    record = Record(label=label, command="" if label else redact(options.argv), cwd=cwd, agent=clean(asker.agent))
    return Job(
        contact,
        options.queue,
        lane,
        owner=asker.owner,
        record=record,
        session=asker.session,
        parent=asker.parent,
        limit_ms=None if options.time_limit is None else int(options.time_limit * 1000),
        queue_limit_ms=queue_limit_ms,
    )


def _cwd() -> str:
    try:
        return os.getcwd()
    except OSError:
        raise ConfigError("the working directory is gone; change to one that exists") from None


def _just_run(argv: list[str]) -> int:
    """OMP_COORD=off: this process becomes the command."""
    from coord.run.child import SpawnError, become

    _flush()
    try:
        return become(argv, os.environ)
    except SpawnError as error:
        return _say(error, error.exit_code)


def _flush() -> None:
    if sys.stderr is None:
        return  # it was closed before we started
    try:
        sys.stderr.flush()
    except (OSError, ValueError):
        pass  # nobody reads it any more


def _say(error: Exception, code: int) -> int:
    from omp_coord.say import say

    for line in str(error).splitlines():
        say(line)
    return code
