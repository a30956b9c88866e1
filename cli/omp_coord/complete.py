"""What a shell is offered for names of the board: whatever can be had within a moment, and never an error."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

import typer

from coord.config.settings import DEFAULT_LANE, Settings
from coord.names import is_name

if TYPE_CHECKING:
    from coord.view.reading import Reading

PATIENCE_S = 1.0


def queues(ctx: typer.Context, incomplete: str) -> list[str]:
    """The queues of the file; without one those on the board."""
    found: list[str] = []
    with _quietly():
        settings = _settings(ctx)
        found = list(settings.queues) or [job["queue"] for job in _jobs(ctx, settings)]
    return sorted({name for name in found if is_name(name) and name.startswith(incomplete)})


def lanes(ctx: typer.Context, incomplete: str) -> list[str]:
    """The lanes of the queue that was typed already, else those of all queues."""
    found: list[str] = []
    with _quietly():
        known = _settings(ctx).queues
        # While an option lacks its value nothing of the line is parsed: the words are in `args` then.
        typed = [word for word in (ctx.params.get("queue"), *ctx.args) if word in known]
        for queue in [known[typed[0]]] if typed else known.values():
            found += [*queue.lanes, DEFAULT_LANE]
    return sorted({name for name in found if name.startswith(incomplete)})


def jobs(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """The jobs on the board with queue and state. What others wrote (labels, commands) is not handed to a shell."""
    found: list[tuple[str, str]] = []
    with _quietly():
        for job in _jobs(ctx, _settings(ctx)):
            if job["id"].startswith(incomplete) and job["id"].isalnum() and is_name(job["queue"]):
                found.append((job["id"], f"{job['queue']}, {job['state']}"))
    return sorted(found)


def pools(ctx: typer.Context, incomplete: str) -> list[str]:
    """The pools of the file; without one those on the board."""
    found: list[str] = []
    with _quietly():
        settings = _settings(ctx)
        found = list(settings.agents.pools) or list(_reading(ctx, settings).pool_limits)
    return sorted({name for name in found if is_name(name) and name.startswith(incomplete)})


def letters(ctx: typer.Context, incomplete: str) -> list[str]:
    """The letters of the sessions that are there."""
    found: list[str] = []
    with _quietly():
        found = [one["label"] for one in _reading(ctx, _settings(ctx)).sessions.values()]
    return [name for name in found if name.isalpha() and name.isascii() and name.startswith(incomplete)]


def _settings(ctx: typer.Context) -> Settings:
    from coord.config.load import load
    from coord.home import Home

    env = {**os.environ, "CI": "1"}  # the hint at `init` is for whoever reads it, so it is not used up here
    return load(os.getcwd(), env, Home.find(env), named=ctx.params.get("config"), scope=ctx.params.get("scope"))


def _jobs(ctx: typer.Context, settings: Settings) -> list[dict[str, str]]:
    return [dict(job) for job in _reading(ctx, settings).jobs.values()]


def _reading(ctx: typer.Context, settings: Settings) -> Reading:
    from coord.home import Home
    from coord.reader import Reader

    reader = Reader(settings, Home.find(os.environ), os.environ, url=ctx.params.get("redis"))
    return reader.read()


@contextmanager
def _quietly() -> Iterator[None]:
    """Gives up on any fault, and after a second: a shell waits for this."""

    def late(signo: int, frame: FrameType | None) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE_S)
    try:
        yield
    except Exception:  # noqa: S110 - a half-typed line is no place for an error
        pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
