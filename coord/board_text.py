"""The board as text: what `omp-coord status` and `agents`, `/coord` and the tool `coord_status` show, by one renderer.

The input is the picture of `coord.view.whole` (that of `status --json`). 80 columns unless said otherwise, local 24 h
times, readable without colour; every line ends with a line feed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from typing import Any

from coord.view.table import Column, styled, table, wrapped

SHORT_ID = 8
NARROW = 72
"""On fewer columns some are left out."""
STYLES = {
    "running": "green",
    "stopped": "magenta",
    "orphaned": "red",
    "granted": "cyan",
    "starting": "cyan",
    "away": "dim",
    "ending": "dim",
}
Row = tuple[list[str], str]


def board_text(status: dict[str, Any], *, width: int = 80, colour: bool = False) -> str:
    """The whole board."""
    lines = _head(status, width, colour)
    letters = {one["id"]: one["label"] for one in status["sessions"]}
    jobs = [job for queue in status["queues"].values() for job in (*queue["running"], *queue["waiting"])]
    for part in (
        _sessions(status, width, colour),
        _pools(status, width, colour),
        _queues(status["queues"], width, colour),
        _jobs(jobs, letters, status["now"], width, colour),
    ):
        lines += ["", *part] if part else []
    if not jobs and not letters:
        lines += ["", _what_next(status)]
    return _text(lines)


def agents_text(status: dict[str, Any], *, width: int = 80, colour: bool = False) -> str:
    """All agents, by session."""
    slots = slots_of(status)
    lines = [*_head(status, width, colour), ""]
    if not slots:
        return _text([*lines, "No agent runs."])
    columns = [
        *(Column("Session"), Column("Agent", 20), Column("Type", 12), Column("Parent", 12), Column("Pool", 12)),
        *(Column("State", 16), Column("Since"), Column("For", right=True)),
    ]
    rows = [(_agent(slot, status["now"]), STYLES.get(slot["state"], "")) for slot in slots]
    return _text([*lines, *table(columns, rows, width, colour=colour)])


def slots_of(status: dict[str, Any]) -> list[dict[str, Any]]:
    """The slots of all sessions, in the order of these, the oldest first."""
    place = {one["id"]: at for at, one in enumerate(status["sessions"])}
    pooled = [slot for pool in status["pools"].values() for slot in pool["slots"]]
    last = len(place)
    return sorted(
        [*pooled, *status["unpooled"]], key=lambda slot: (place.get(slot["session"], last), slot["since"], slot["id"])
    )


def _text(lines: list[str]) -> str:
    return "".join(line.rstrip() + "\n" for line in lines)


# -- head


def _head(status: dict[str, Any], width: int, colour: bool) -> list[str]:
    lines = [styled(line, "bold", colour) for line in wrapped(_headline(status), width)]
    if status["paused"]:
        lines += [styled(line, "yellow", colour) for line in wrapped(_paused(status), width)]
    for caution in status["warnings"]:
        lines += [styled(line, "yellow", colour) for line in wrapped(f"! {caution['text']}", width)]
    return lines


def _headline(status: dict[str, Any]) -> str:
    server = status["server"]
    version = f" {server['version']}" if server["version"] else ""
    if server["url"] is None:
        where = "no server runs"
    elif not server["reachable"]:
        where = f"the server {server['url']} does not answer"
    elif server["embedded"]:
        where = f"embedded server{version}"
    else:
        where = server["url"] + (f" ({server['version']})" if version else "")
    return f"Board {status['scope']} · {where} · {clock(status['now'], status['now'])}"


def _paused(status: dict[str, Any]) -> str:
    paused, now = status["paused"], status["now"]
    by = f"session {paused['label']}" if paused["label"] else _here(paused["by"] or "?")
    since = f"since {clock(paused['since'], now)} ({span((now - paused['since']) / 1000)})"
    reason = f": {paused['reason']}" if paused["reason"] else ""
    return f"Paused by {by} {since}{reason}"


def _what_next(status: dict[str, Any]) -> str:
    server = status["server"]
    if server["url"] is not None and not server["reachable"]:
        return "What runs is not known until the server answers again."
    if status["queues"]:
        return f"Nothing runs. Next: omp-coord run {next(iter(status['queues']))} -- COMMAND"
    return "Nothing runs. Next: omp-coord init, or omp-coord run QUEUE -- COMMAND"


# -- sessions and pools


def _sessions(status: dict[str, Any], width: int, colour: bool) -> list[str]:
    if not status["sessions"]:
        return []
    now = status["now"]
    rows: list[Row] = []
    for one in status["sessions"]:
        state = "late" if one["late"] else "there"
        since = clock(one["joined"], now)
        rows.append(([one["label"], state, since, str(one["agents"]), one["cwd"]], "red" if one["late"] else ""))
    columns = [Column("Session"), Column("State"), Column("Joined"), Column("Agents", right=True), Column("Folder")]
    return table(columns, rows, width, colour=colour)


def _pools(status: dict[str, Any], width: int, colour: bool) -> list[str]:
    if not status["pools"]:
        return []
    rows: list[Row] = []
    for name, pool in status["pools"].items():
        slots = _of(pool["effectiveCap"], pool["cap"], pool["limitedBy"])
        used = str(pool["used"]) + (f"+{pool['held']} held" if pool["held"] else "")
        rows.append(([name, slots, used, _holders(pool["slots"]), _line(pool["line"], status)], ""))
    columns = [Column("Pool", 24), Column("Slots"), Column("Used"), Column("By", 24), Column("Line", wraps=True)]
    return table(columns, rows, width, colour=colour)


def _of(effective: int | None, own: int | None, limited: str | None) -> str:
    """`2`, or `1 of 2 (load)`."""
    if effective == own:
        return "-" if own is None else str(own)
    return f"{effective} of {own}" + (f" ({limited})" if limited else "")


def _holders(slots: list[dict[str, Any]]) -> str:
    """`A 2, B`: which sessions have how many."""
    counts: dict[str, int] = {}
    for slot in slots:
        letter = slot["label"] or "?"
        counts[letter] = counts.get(letter, 0) + 1
    return ", ".join(letter + (f" {n}" if n > 1 else "") for letter, n in counts.items())


def _line(line: list[dict[str, Any]], status: dict[str, Any]) -> str:
    """`B held 4m59s, #1 C`: places are counted among those without a hold."""
    parts, place = [], 0
    for wait in line:
        letter = wait["label"] or "?"
        if wait["holdUntil"] is not None:
            parts.append(f"{letter} held {span((wait['holdUntil'] - status['now']) / 1000)}")
        else:
            place += 1
            parts.append(f"#{place} {letter}")
    return ", ".join(parts)


def _agent(slot: dict[str, Any], now: int) -> list[str]:
    state = slot["state"] + (f", {slot['unqueued']}" if slot["unqueued"] else "")
    names = [slot["label"] or "?", slot["agent"] or "-", slot["type"], slot["parent"] or "-", slot["pool"] or "-"]
    return [*names, state, clock(slot["since"], now), span((now - slot["since"]) / 1000)]


# -- queues and jobs


def _queues(queues: dict[str, dict[str, Any]], width: int, colour: bool) -> list[str]:
    if not queues:
        return []
    with_lanes = any(len(queue["lanes"]) > 1 for queue in queues.values())
    columns = [Column("Queue", 24), Column("Slots"), Column("Order")]
    columns += [Column("Running", right=True), Column("Waiting", right=True)]
    columns += [Column("Lanes", wraps=True)] if with_lanes else []
    rows: list[Row] = []
    for name, queue in queues.items():
        slots = _of(queue["effectiveSlots"], queue["slots"], queue["limitedBy"])
        cells = [name, slots, queue["order"], str(len(queue["running"])), str(len(queue["waiting"]))]
        rows.append(([*cells, *([_lanes(queue["lanes"])] if with_lanes else [])], ""))
    return table(columns, rows, width, colour=colour)


def _lanes(lanes: dict[str, dict[str, Any]]) -> str:
    if len(lanes) < 2:
        return ""
    return ", ".join(
        f"{name} {lane['priority']}"
        + (f" reserved {lane['reserved']}" if lane["reserved"] else "")
        + (f" max {lane['max']}" if lane["max"] is not None else "")
        for name, lane in lanes.items()
    )


def _jobs(jobs: list[dict[str, Any]], letters: dict[str, str], now: int, width: int, colour: bool) -> list[str]:
    if not jobs:
        return []
    columns = [Column("Queue", 16), Column("State", 10), Column("Job", 16), Column("Since", 11)]
    columns += [Column("For", 6, right=True), Column("Who", 16), Column("Command")]
    shown = [at for at, column in enumerate(columns) if width >= NARROW or column.name not in ("Since", "Who")]
    short = short_ids(job["id"] for job in jobs)
    rows: list[Row] = []
    for job in jobs:
        cells = _job(job, short[job["id"]], letters, now)
        rows.append(([cells[at] for at in shown], STYLES.get(job["state"], "")))
    return table([columns[at] for at in shown], rows, width, colour=colour)


def _job(job: dict[str, Any], short: str, letters: dict[str, str], now: int) -> list[str]:
    since = job["startedAt"] or job["grantedAt"] or job["queuedAt"]
    state = f"waits #{job['place']}" if job["place"] else job["state"]
    lane = "" if job["lane"] == "default" else f"/{job['lane']}"
    letter = letters.get(job["session"] or "")
    who = f"session {letter}" if letter else _here(job["owner"])
    who = f"{who} {job['agent']}" if job["agent"] else who
    what = job["label"] or job["command"] or "-"
    return [job["queue"] + lane, state, short, clock(since, now), span((now - since) / 1000), who, what]


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


def _here(owner: str) -> str:
    """Without this machine's own name."""
    return owner.replace(f"@{os.uname().nodename}:", ":")


# -- times


def clock(at: int, now: int) -> str:
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
