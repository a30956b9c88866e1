"""Who asks, on the board, when a person or an agent types a command that changes it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from coord.names import clean
from coord.view.reading import Reading


def asker(reading: Reading, env: Mapping[str, str] | None = None) -> tuple[str, str]:
    """`by` and `label`: the session that this runs in and its letter, when that is on the board; else the terminal, as
    `omp-coord run` names it, and ""."""
    from coord.run.asker import terminal

    env = os.environ if env is None else env
    session = env.get("OMP_COORD_SESSION", "")
    letter = reading.letter(session)
    return (session, letter) if letter else (clean(terminal(env)), "")


def who_is_there(sessions: Mapping[str, dict[str, Any]]) -> str:
    """`A (/home/ann/app), B (…)`, or that there is nobody."""
    found = [f"{one['label']} ({one.get('cwd') or '?'})" for one in sessions.values()]
    return f"There are: {', '.join(found)}." if found else "No session is there."
