"""From the end of one process' work in `with coordinator.slot(…)` to the begin of the next one's, ten processes."""

from __future__ import annotations

import contextlib
import itertools
from typing import TYPE_CHECKING, Any

from bench.figures import Figure, median, percentile
from bench.workers import Workers, kinds

if TYPE_CHECKING:
    from bench.place import Place

PROCESSES = 10
TIMES = 5


def measure(place: Place, rounds: int) -> Figure:
    gaps: dict[str, list[float]] = {kind: [] for kind in kinds()}
    early = dict.fromkeys(gaps, 0)
    with contextlib.ExitStack() as stack:
        groups = [stack.enter_context(Workers(place, kind, "managers", PROCESSES)) for kind in gaps]
        for _ in range(rounds):
            for group in groups:
                stays = sorted(
                    (stay for one in group.ask(f"contend {TIMES}") for stay in one), key=lambda stay: stay[1]
                )
                gaps[group.kind] += _gaps(stays)
                early[group.kind] += _out_of_order(place, stays)
    p50, p99 = median(gaps["ours"]) * 1000, percentile(gaps["ours"], 99) * 1000
    return Figure(
        f"the same between {PROCESSES} processes on the Python context manager, 5 ms of work each",
        "p50 ≤ 1 ms, p99 ≤ 3 ms, in ticket order",
        f"p50 {p50:.2f} / p99 {p99:.1f} ms, {_order(early['ours'])}",
        p50 <= 1 and p99 <= 3 and not early["ours"],
        [
            f"{kind} p50 {median(seen) * 1000:.2f} / p99 {percentile(seen, 99) * 1000:.1f} ms, {_order(early[kind])}"
            for kind, seen in gaps.items()
            if kind != "ours"
        ],
    )


def _gaps(stays: list[list[Any]]) -> list[float]:
    """Seconds between two stays, where the next one had been waiting already."""
    pairs = itertools.pairwise(stays)
    return [after[1] - before[2] for before, after in pairs if after[0] < before[2]]


def _out_of_order(place: Place, stays: list[list[Any]]) -> int:
    """How many were served although somebody who waited had come before. Who came first: for ours the ticket, for
    those that give none the time of asking, 1 ms apart at least (the clock is read before the call)."""
    jobs = {stay[3] for stay in stays}
    came = [float(stay[0]) for stay in stays]
    slack = 0.001
    if jobs != {""}:
        tickets = _tickets(place, jobs)
        came, slack = [float(tickets.get(stay[3], 0)) for stay in stays], 0.0  # 0: it ran uncoordinated
    last = min(came)
    late = 0
    for at in came:
        late += at < last - slack
        last = max(last, at)
    return late


def _tickets(place: Place, jobs: set[str]) -> dict[str, int]:
    found = {}
    events: Any = place.link.call("XREVRANGE", place.board.keys["EVENTS"], "+", "-", "COUNT", 5 * len(jobs))
    for _, fields in events:
        event = dict(zip(fields[::2], fields[1::2], strict=True))
        if event["type"] == "job_queued" and event["job"] in jobs:
            found[event["job"]] = int(event["ticket"])
    return found


def _order(out_of_order: int) -> str:
    return f"{out_of_order} overtaken" if out_of_order else "in order"
