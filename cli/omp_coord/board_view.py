"""The board as tables for people: 80 columns wide, local times, readable without colour."""

from __future__ import annotations

import io
import os
import time
from collections.abc import Iterable

from rich.console import Console
from rich.table import Table
from rich.text import Text

from coord.status import Job, QueuePicture, Status

SHORT_ID = 8
COLUMNS = (("Queue", 16), ("State", 10), ("Job", 16), ("Since", 11), ("For", 6), ("Who", 16), ("Command", 0))
"""Of the jobs, with the most that each may take; 0: what is left."""
NARROW = 72
"""On fewer columns some are left out."""
STYLES = {"running": "green", "stopped": "magenta", "orphaned": "red", "granted": "cyan", "away": "dim"}


def render(status: Status, *, width: int, colour: bool) -> str:
    """The whole picture as text, one line feed after each line."""
    console = Console(
        file=io.StringIO(), width=width, force_terminal=colour, color_system="standard" if colour else None,
        highlight=False, markup=False, emoji=False, legacy_windows=False, _environ={},
    )  # fmt: skip
    console.print(Text(_headline(status), style="bold"))
    for caution in status.warnings:
        console.print(Text(f"! {caution.text}", style="yellow"), soft_wrap=False)
    if status.queues:
        console.print()
        console.print(_queues(status.queues))
    jobs = [job for queue in status.queues.values() for job in (*queue.running, *queue.waiting)]
    console.print()
    console.print(_jobs(jobs, status.now, width) if jobs else Text(_what_next(status)))
    text = console.file.getvalue()  # type: ignore[attr-defined] # it is the StringIO from above
    return "".join(line.rstrip() + "\n" for line in text.splitlines())


def _headline(status: Status) -> str:
    server = status.server
    version = f" {server.version}" if server.version else ""
    if server.url is None:
        where = "no server runs"
    elif not server.reachable:
        where = f"the server {server.url} does not answer"
    else:
        where = (
            f"embedded server{version}" if server.embedded else server.url + (f" ({server.version})" if version else "")
        )
    return f"Board {status.scope} · {where} · {_clock(status.now, status.now)}"


def _what_next(status: Status) -> str:
    if status.server.url is not None and not status.server.reachable:
        return "What runs is not known until the server answers again."
    if status.queues:
        name = next(iter(status.queues))
        return f"Nothing runs. Next: omp-coord run {name} -- COMMAND"
    return "Nothing runs. Next: omp-coord init, or omp-coord run QUEUE -- COMMAND"


def _queues(queues: dict[str, QueuePicture]) -> Table:
    with_lanes = any(len(queue.lanes) > 1 for queue in queues.values())
    table = _table("Queue", "Slots", "Order", "Running", "Waiting", *(["Lanes"] if with_lanes else []))
    table.columns[0].max_width = 24
    for column in table.columns[3:5]:
        column.justify = "right"
    if with_lanes:
        table.columns[5].no_wrap = False
    for name, queue in queues.items():
        row = [name, _slots(queue), queue.order, str(len(queue.running)), str(len(queue.waiting))]
        table.add_row(*map(Text, [*row, *([_lanes(queue)] if with_lanes else [])]))
    return table


def _slots(queue: QueuePicture) -> str:
    if queue.effective_slots == queue.slots:
        return str(queue.slots)
    return f"{queue.effective_slots} of {queue.slots}" + (f" ({queue.limited_by})" if queue.limited_by else "")


def _lanes(queue: QueuePicture) -> str:
    if len(queue.lanes) < 2:
        return ""
    return ", ".join(
        f"{name} {lane.priority}"
        + (f" reserved {lane.reserved}" if lane.reserved else "")
        + (f" max {lane.max}" if lane.max is not None else "")
        for name, lane in queue.lanes.items()
    )


def _jobs(jobs: list[Job], now: int, width: int) -> Table:
    short = short_ids(job.id for job in jobs)
    rows = [[Text(cell) for cell in _cells(job, short[job.id], now)] for job in jobs]
    shown = [at for at, (name, _) in enumerate(COLUMNS) if width >= NARROW or name not in ("Since", "Who")]
    table = _table(*(COLUMNS[at][0] for at in shown))
    left = width
    for column, at in zip(table.columns, shown, strict=True):
        name, most = COLUMNS[at]
        # Each as wide as it needs, and the command what is left: it is cut, not the short cells beside it.
        column.width = min(most, max(len(name), *(row[at].cell_len for row in rows))) if most else left
        left -= column.width + 2
        column.justify = "right" if name == "For" else "left"
    for job, row in zip(jobs, rows, strict=True):
        table.add_row(*(row[at] for at in shown), style=STYLES.get(job.state, ""))
    return table


def _cells(job: Job, short: str, now: int) -> list[str]:
    since = job.started_at or job.granted_at or job.queued_at
    state = f"waits #{job.place}" if job.place else job.state
    lane = "" if job.lane == "default" else f"/{job.lane}"
    what = job.label or job.command or "-"
    return [job.queue + lane, state, short, _clock(since, now), span((now - since) / 1000), _who(job), what]


def _table(*names: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold", collapse_padding=True)
    for name in names:
        table.add_column(name, no_wrap=True, overflow="ellipsis")
    return table


def short_ids(ids: Iterable[str]) -> dict[str, str]:
    """Each id → as much of its beginning as tells it from the others, at least SHORT_ID characters."""
    ordered = sorted(ids)
    short = {}
    for before, id, after in zip(["", *ordered], ordered, [*ordered[1:], ""], strict=False):
        length = SHORT_ID
        while length < len(id) and (before.startswith(id[:length]) or after.startswith(id[:length])):
            length += 1
        short[id] = id[:length]
    return short


def _who(job: Job) -> str:
    """The owner, without this machine's own name, and the agent."""
    owner = job.owner.replace(f"@{os.uname().nodename}:", ":")
    return f"{owner} {job.agent}" if job.agent else owner


def _clock(at: int, now: int) -> str:
    """Local time; another day's with its date."""
    moment = time.localtime(at / 1000)
    today = moment[:3] == time.localtime(now / 1000)[:3]
    return time.strftime("%H:%M:%S" if today else "%m-%d %H:%M", moment)


def span(seconds: float) -> str:
    """A length of time in two units at most: 7s, 2m05s, 3h20m, 2d04h."""
    whole = max(0, int(seconds))
    for size, unit, part, small in ((86400, "d", 3600, "h"), (3600, "h", 60, "m"), (60, "m", 1, "s")):
        if whole >= size:
            return f"{whole // size}{unit}{whole % size // part:02}{small}"
    return f"{whole}s"
