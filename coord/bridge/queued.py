"""The line by which an agent's command goes through a queue, made and read back.

    <path of omp-coord> run --config FILE --owner SESSION --agent ID [--lane L] QUEUE -- bash -c '<command>'

Nothing in it depends on the agent's PATH or folder. The conversation shows this line, and agents repeat it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from coord.bridge.tags import SPACE, WORD, quoted, unquoted

MOST_BYTES = 128 * 1024 - 1
"""The longest argument that Linux hands to a program (MAX_ARG_STRLEN, with its closing NUL)."""

_LINE = re.compile(
    rf"{SPACE}*(?P<program>{WORD}) run --config (?P<config>{WORD}) --owner {WORD} --agent {WORD}"
    rf"(?: --lane (?P<lane>{WORD}))? (?P<queue>{WORD}) -- bash -c (?P<command>{WORD}){SPACE}*"
)
_OWN_RUN = re.compile(
    rf"""{SPACE}*(?:[A-Za-z_][A-Za-z0-9_]*=[^\s;&|<>()]*[ \t]+)*"""  # CI=1 omp-coord run …
    rf"""(?:'[^']*/omp-coord'|"[^"]*/omp-coord"|(?:[^\s;&|<>()'"`]*/)?omp-coord)[ \t]+run(?:{SPACE}|$)"""
)


class Queued(NamedTuple):
    """A queue and a lane of it, and the command that is to run there."""

    queue: str
    lane: str | None
    command: str


class Caller(NamedTuple):
    """Whose commands are written: the absolute path of omp-coord ("": not known), the configuration file, the session."""

    program: str
    config: str
    session: str


def line_of(job: Queued, caller: Caller, agent: str) -> str:
    """The line for an agent of the caller."""
    words = [caller.program, "run", "--config", caller.config, "--owner", caller.session, "--agent", agent]
    if job.lane is not None:
        words += ["--lane", job.lane]
    words += [job.queue, "--", "bash", "-c"]
    return " ".join([*map(quoted, words), quoted(job.command, always=True)])


def read_line(text: str) -> Queued | None:
    """What stands in a line of exactly that form, whoever it was written for; None for every other text."""
    found = _LINE.fullmatch(text)
    if found is None or not unquoted(found["program"]).endswith("/omp-coord"):
        return None
    lane = found["lane"]
    return Queued(unquoted(found["queue"]), lane and unquoted(lane), unquoted(found["command"]))


def is_own_run(text: str) -> bool:
    """Whether a command begins with an `omp-coord run` that somebody wrote by hand."""
    return _OWN_RUN.match(text) is not None


def unqueueable(job: Queued, caller: Caller) -> str | None:
    """Why a command cannot be given to its queue; None when it can."""
    if not caller.program:
        return "commands are not queued: this omp-coord does not know where its own command lies; reinstall it"
    if len(job.command) > MOST_BYTES or len(job.command.encode("utf-8", "replace")) > MOST_BYTES:
        return f"a command of over {(MOST_BYTES + 1) // 1024} KiB cannot be queued ({job.queue}), so it just runs"
    return None
