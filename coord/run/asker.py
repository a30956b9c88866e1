"""Who asks for a slot, as far as the environment tells: the session, the terminal, the job around."""

from __future__ import annotations

import os

from coord.names import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class Asker:
    """`owner` shares fairly with others of one queue; `session` counts instead of it when the board knows that session;
    `parent` is the job in whose command we run, or ""."""

    __slots__ = ("agent", "owner", "parent", "session")

    def __init__(
        self, env: Mapping[str, str], scope: str, *, owner: str | None = None, agent: str | None = None
    ) -> None:
        self.owner = encode(owner or terminal(env))
        # A host keeps the environment of its shells, so after it changed its session only the line tells which one it is.
        session = owner if owner and _is_session(owner) else env.get("OMP_COORD_SESSION", "")
        self.session = session if session.isascii() else ""
        self.agent = agent or env.get("OMP_COORD_AGENT", "")
        parent = env.get("OMP_COORD_JOB", "") if env.get("OMP_COORD_SCOPE") == scope else ""
        self.parent = parent if parent.isalnum() and parent.isascii() else ""


def _is_session(text: str) -> bool:
    return len(text) == 16 and not text.strip("0123456789abcdef")


def terminal(env: Mapping[str, str]) -> str:
    """User, machine, and the terminal or else the calling process."""
    for fd in (2, 0, 1):
        try:
            place = os.ttyname(fd).removeprefix("/dev/")
            break
        except OSError:
            continue
    else:
        place = f"pid-{os.getppid()}"
    return f"{env.get('USER') or os.getuid()}@{os.uname().nodename}:{place}"
