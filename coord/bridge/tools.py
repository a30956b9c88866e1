"""What agents (tools) and the user (`/coord`) may ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coord.bridge import words
from coord.names import clean, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from coord.bridge.session import Session

    Show = Callable[[Sequence[str], str], str]
    """The text of a reading command (`status`, `agents`) in a folder."""

MOST_REASON = 200
REASON = {"type": "string", "description": "Why, in a few words; every session is told.", "maxLength": MOST_REASON}

TOOLS: list[dict[str, Any]] = [
    {
        "name": "coord_status",
        "description": "Shows the shared board of this project: sessions, who holds which agent slots, queues, pauses.",
        "schema": {"type": "object", "properties": {}, "additionalProperties": False},
    },
    {
        "name": "coord_pause",
        "description": "Pauses the project for all sessions: no new agents and no new queued jobs. What runs, runs on.",
        "schema": {"type": "object", "properties": {"reason": REASON}, "additionalProperties": False},
    },
    {
        "name": "coord_resume",
        "description": "Lifts the pause of the project.",
        "schema": {"type": "object", "properties": {}, "additionalProperties": False},
    },
]

COMMANDS: list[dict[str, str]] = [
    {"name": "agents", "description": "all agents that run, by session"},
    {"name": "pause", "description": "no new agents and jobs for the whole project: /coord pause REASON"},
    {"name": "resume", "description": "lift the pause"},
    {"name": "leave", "description": "give back the place or hold in line: /coord leave [POOL]"},
    {"name": "help", "description": "what /coord can do"},
]


def help_text() -> str:
    """For `/coord help`."""
    lines = [f"- `/coord {command['name']}`: {command['description']}" for command in COMMANDS]
    return "\n".join(["`/coord` alone shows the board.", *lines])


def complete(prefix: str, session: Session | None) -> list[dict[str, str]]:
    """What may follow `/coord `. A word that stands there whole has nothing to complete: with a list open, omp would take
    the Enter that is to run it for a choice from the list."""
    word, blank, rest = prefix.lstrip().partition(" ")
    if blank and word == "leave" and session is not None:
        typed = rest.strip()
        pools = [name for name in _pools(session) if name.startswith(typed) and name != typed]
        return [{"value": f"leave {name}", "label": name, "description": "this pool's line"} for name in pools]
    if blank:
        return []
    typed = word.lower()
    found = [each for each in COMMANDS if each["name"].startswith(typed) and each["name"] != typed]
    return [{"value": each["name"], "label": each["name"], "description": each["description"]} for each in found]


def pause(session: Session, reason: str) -> str:
    """Raises `Away`."""
    _said(session.ask("board_pause", by=session.id, label=session.label, reason=words.clip(clean(reason), MOST_REASON)))
    session.look()
    return f"Paused{words.pause_words(session.picture.paused)}. What runs, runs on; `/coord resume` lifts the pause."


def resume(session: Session) -> str:
    answer = _said(session.ask("board_resume", by=session.id, label=session.label))
    session.look()
    return "Resumed: agents and jobs start again." if answer.fields["was"] else "It was not paused."


def leave(session: Session, pool: str) -> str:
    known = _pools(session)
    if pool and pool not in known:
        near = nearest(pool, known)
        guess = f' Did you mean "{near}"?' if near else ""
        return f'There is no pool "{clean(pool[:80])}".{guess} Pools: {", ".join(known) or "none"}.'
    left = _said(session.ask("line_leave", pool=pool)).fields["pools"].split()
    for name in left:
        session.picture.left(name)
    session.look()
    if not left:
        return "This session was in no line."
    return f"Left the line of {', '.join(left)}; the next one is served."


def _pools(session: Session) -> list[str]:
    """Those of the file, and those that it has no more but in whose line the session stands."""
    return list(dict.fromkeys([*session.contact.settings.agents.pools, *session.picture.line, *session.picture.holds]))


class Away(Exception):
    """The board is not reached, so nothing was changed."""


def _said(answer: Any) -> Any:
    if answer is None:
        raise Away
    return answer
