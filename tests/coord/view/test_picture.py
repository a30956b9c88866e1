"""coord.view, coord.reader and coord.board_text: the picture as plain data, for those that must stay small."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from coord.board_text import agents_text, board_text
from coord.config.settings import Settings
from coord.status import Status
from coord.view.reading import Reading
from coord.view.whole import whole

SERVER: dict[str, Any] = {"url": "unix:///s", "embedded": True, "version": "7.2.0", "reachable": True}
NOW = 1_800_000_000_000


def session(label: str, **fields: Any) -> dict[str, Any]:
    """A session's record."""
    process = {"pid": 7, "start": "1", "instance": "i"}
    return {"label": label, "machine": "m1", "process": process, "joined": NOW, "policy": "p", "cwd": "/app", **fields}


def picture(**fields: Any) -> dict[str, Any]:
    texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in fields.items()}
    return whole(Reading(texts, NOW), Settings(None, "demo"), SERVER, [])


def slot(of: str, at: int = 0, **fields: Any) -> dict[str, Any]:
    return {"session": of, "type": "task", "state": "running", "since": NOW + at, "parent": "Main", **fields}


def test_nothing_heavy_is_imported() -> None:
    """Whoever shows the board needs no pydantic, rich, typer, redis or psutil: the bridge is to stay small."""
    code = """
import sys
import coord.board_text, coord.reader
print(sorted({name.split(".")[0] for name in sys.modules} & {"pydantic", "rich", "typer", "redis", "psutil", "regex"}))
"""
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout == "[]\n"


def test_letters_are_in_their_order() -> None:
    """Z before AA, and so are their agents."""
    seen = picture(
        sessions={"1": session("AA"), "2": session("Z"), "3": session("B")},
        slots={"s1": slot("1"), "s2": slot("2", 5), "s3": slot("2", -5)},
    )
    assert [one["label"] for one in seen["sessions"]] == ["B", "Z", "AA"]
    assert [one["id"] for one in seen["unpooled"]] == ["s3", "s2", "s1"]
    assert [one["agents"] for one in seen["sessions"]] == [0, 2, 1]


def test_it_is_what_the_types_say() -> None:
    """The typed picture adds and drops nothing."""
    seen = picture(
        sessions={"1": session("A"), "2": session("B")},
        slots={"s1": slot("1", pool="work", agent="W0", unqueued="eval")},
        poolLimits={"work": {"cap": 1, "effective": 1, "highest": 1}},
        line=[{"pool": "work", "ticket": "1800000000000007", "session": "2"}],
        holds=[{"pool": "work", "session": "2", "until": NOW + 60_000}],
        paused={"by": "ann", "since": NOW - 5000},
    )
    assert Status.model_validate(seen).model_dump() == seen
    assert seen["pools"]["work"]["line"] == [
        {"session": "2", "label": "B", "since": NOW, "holdUntil": NOW + 60_000}
    ]  # fmt: skip
    assert seen["paused"] == {"by": "ann", "label": None, "reason": None, "since": NOW - 5000}


def test_a_long_line_goes_on_below(monkeypatch: Any) -> None:
    """All who wait are shown, by place; the one with a hold without one; within 80 columns."""
    sessions = {str(n): session(chr(65 + n)) for n in range(20)}
    line = [{"pool": "work", "ticket": f"{n:016}", "session": str(n)} for n in range(20)]
    seen = picture(
        sessions=sessions, line=line, poolLimits={"work": {"cap": 1, "effective": 0, "limitedBy": "load", "highest": 1}},
        holds=[{"pool": "work", "session": "0", "until": NOW + 60_000}],
    )  # fmt: skip
    text = board_text(seen)
    assert max(map(len, text.splitlines())) <= 80
    words = " ".join(text.split())
    assert "0 of 1 (load) 0+1 held A held 1m00s, #1 B, #2 C," in words
    assert "#19 T" in words


def test_a_narrow_terminal() -> None:
    """60 columns are enough for every table."""
    seen = picture(
        sessions={"1": session("A", cwd="/home/ann/" + "deep/" * 20)},
        slots={
            "s1": slot(
                "1", agent="Fixer-2-of-many-more", type="a-very-long-type", unqueued="revived", parent="Main.Fixer"
            )
        },
    )
    for text in (board_text(seen, width=60), agents_text(seen, width=60)):
        assert max(map(len, text.splitlines())) <= 60
        assert "Fixer" in text or "/home/ann" in text


def test_a_session_that_left_its_slot_behind() -> None:
    """A record without its session is shown, not hidden: its letter is unknown."""
    seen = picture(slots={"s1": slot("gone", pool="work")}, poolLimits={"work": {"cap": 1, "effective": 1}})
    assert seen["pools"]["work"]["slots"][0]["label"] is None
    assert "?" in agents_text(seen).splitlines()[-1]
