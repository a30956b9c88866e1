"""What agents and people are told: refusals that a model can act on, notices, the footer."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

from coord.names import clean

if TYPE_CHECKING:
    from coord.bridge.picture import Picture

MOST_CHARS = 399
PREFIX = "omp-coord: "

_NO_RETRY = "Do not retry in a loop: it does not help."
_OTHER_WORK = "Go on with other work meanwhile."


class Refusal:
    """A refused spawn as the board told it. `holders`: [{label, n}]; `place` None: no place in line; `allowed`: types that
    a subagent may start."""

    def __init__(self, fields: dict[str, str], holders: list[dict[str, Any]], type: str) -> None:
        self.cause = fields["cause"]
        self.pool, self.type = clean(fields["pool"]), clip(clean(type), 60)
        self.used, self.cap = int(fields["used"]), int(fields["cap"]) if fields["cap"] else None
        self.place = int(fields["place"]) if fields["place"] else None
        self.allowed = clean(fields["allowed"])
        self.holders = holders

    @property
    def held_by(self) -> str:
        """`A 2, B 1`, the most first."""
        shown = ", ".join(f"{clean(str(one['label']))} {one['n']}" for one in self.holders[:6])
        return shown + (" and others" if len(self.holders) > 6 else "")

    @property
    def full(self) -> str:
        return f"{self.used}/{self.cap} used" + (f" (by session: {self.held_by})" if self.holders else "")


def refusal(told: Refusal, paused: dict[str, Any] | None, hold_ms: int) -> str:
    """The reason for the model that asked, under 400 characters."""
    text = f"{PREFIX}nothing was started: {_why(told, paused)} {_next(told, hold_ms)}".rstrip()
    return clip(text, MOST_CHARS)


def _why(told: Refusal, paused: dict[str, Any] | None) -> str:
    if told.cause == "nestedType":
        allowed = clip(told.allowed.replace(" ", ", "), 120)
        rule = f"a subagent may start only: {allowed}" if allowed else "a subagent may not start agents"
        return f"{rule}; not {told.type}. Do the work yourself or give it back to the agent that started you."
    if told.cause == "nestedFull":
        return (
            "you have as many subagents running as one agent may have. Wait until one has ended, then ask again once."
        )
    if told.cause == "paused":
        return f"all work of this project is paused{pause_words(paused)}."
    if told.cause == "settling":
        return "the board is new and still collects what runs. Ask again once, in a few seconds."
    pool = f"the pool {told.pool}"
    if told.cause == "held":
        return f"{pool} has {told.full}; what is free is held for sessions before this one."
    limit = {"load": " while the machine is busy", "policy": ", the lowest cap of all sessions' files"}
    return f"{pool} is full, {told.full}{limit.get(told.cause, '')}."


def _next(told: Refusal, hold_ms: int) -> str:
    if told.cause in ("nestedType", "nestedFull", "settling"):
        return ""
    if told.place is None:
        return f"{_NO_RETRY} {_OTHER_WORK}"
    first = f"This session is number {told.place} in line"
    when = "the next free slot" if told.place == 1 else "when its turn comes a slot"
    return f"{first}; {when} is held for it for {span(hold_ms)} and you get a message. {_NO_RETRY} {_OTHER_WORK}"


def refusal_notice(told: Refusal, agent: str, paused: dict[str, Any] | None) -> str:
    """The one warning for the user."""
    asker = clip(clean(agent), 60) or "Main"
    place = f"; place {told.place} in line" if told.place is not None else ""
    reasons = {
        "nestedType": f"a subagent may start only: {told.allowed or 'nothing'}",
        "nestedFull": "it has as many subagents as one agent may have",
        "paused": f"paused{pause_words(paused)}",
        "settling": "the board is new and settles",
        "full": f"pool {told.pool} is full, {told.full}",
        "held": f"pool {told.pool}: what is free is held for others, {told.full}",
    }
    reason = reasons.get(told.cause, f"pool {told.pool} is full ({told.cause}), {told.full}")
    return f"refused: {told.type} for {asker}: {reason}{place}"


def over_cap(agents: list[tuple[str, str]], pool: str, over: int | str) -> str:
    """That agents (type, id) took a pool over its cap by starting without asking."""
    who = f"{clean(agents[0][0])[:60]} {clean(agents[0][1])[:60]}" if len(agents) == 1 else f"{len(agents)} agents"
    return f"{who} started without asking: the pool {clean(pool)} is over its cap by {over}"


def pause_words(paused: dict[str, Any] | None) -> str:
    """` by session A: reason`, as far as known."""
    if not paused:
        return ""
    by = clean(str(paused.get("label") or ""))
    reason = clip(clean(str(paused.get("reason") or "")), 100)
    return (f" by session {by}" if by else "") + (f": {reason}" if reason else "")


def queue_note(queue_spawns: bool, allowance: int | None, why: str, *, away: bool = False, unsized: str = "") -> str:
    """The line that says whether spawns wait in the host's own queue, or the first reason why not. `unsized`: why the host
    cannot have them wait."""
    if allowance is not None:
        return f"spawns over the cap wait and start by themselves ({allowance} may run now)"
    reasons = {
        "paused": "the scope is paused",
        "others": "other sessions are on the board",
        "eval": "eval workers run",
        "none": "no slot is free for a new spawn",
    }
    reason = "the board is not reached" if away else reasons.get(why, "the board is not reached")
    if not queue_spawns:
        reason = "agents.queueSpawns is off"
    elif unsized:
        reason = f"omp's own queue cannot be sized ({unsized})"
    return f"spawns do not wait, those over the cap are refused: {reason}"


def footer(label: str, picture: Picture) -> str:
    """`coord B · work 2/3 · line build #2 · held work 4m · jobs 3 waiting`."""
    parts = [f"coord {label}"]
    parts += [f"{name} {used}/{'-' if cap is None else cap}" for name, used, cap in picture.pools]
    if picture.paused:
        parts.append("paused")
    parts += [f"line {pool} #{place}" for pool, place in picture.line.items()]
    for pool, until in picture.holds.items():
        # (A moment less: the two clocks are compared by a message that took some time.)
        left = "" if until is None else f" {max(0, math.ceil((picture.local_s(until) - time.time() - 0.5) / 60))}m"
        parts.append(f"held {pool}{left}")
    if picture.waiting_jobs:
        parts.append(f"jobs {picture.waiting_jobs} waiting")
    return clean(" · ".join(parts))


OFFLINE = "coord offline"


def held(pool: str, until_s: float, now_s: float) -> str:
    """That a slot is held, and until when by the clock of this machine."""
    clock = "%H:%M:%S" if until_s - now_s < 120 else "%H:%M"
    return f"a slot of the pool {clean(pool)} is held for this session until {time.strftime(clock, time.localtime(until_s))}"


def span(ms: int) -> str:
    """`5 minutes`, `30 seconds`."""
    seconds = ms / 1000
    if seconds < 120:
        return f"{seconds:.3g} second{'' if seconds == 1 else 's'}"
    return f"{seconds / 60:.3g} minutes"


def other_version(plugin: str, command: str) -> str | None:
    """The line to type when plugin and command are of two versions; None when they agree, or the plugin does not say."""
    if plugin in ("", command):
        return None
    older = _numbers(plugin) < _numbers(command)
    line = "omp-coord plugin install" if older else "pip install --upgrade omp-coord"
    again = ", then start omp again" if older else ""
    differ = f"the omp plugin is {clip(clean(plugin), 40)}, the command omp-coord {command}"
    return f"{differ}; to bring them together: {line}{again}"


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".") if part.isascii() and part.isdigit()]


def clip(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
