"""What the board is told of a job: its record, as JSON text (the module `json` costs the runner 7 ms)."""

from __future__ import annotations

import os
import time
from _json import encode_basestring_ascii as _quoted

from coord.machine import start_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from coord.run.job import Job


class Record:
    """The unchanging part of a job's record. `instance` tells this process from any other with the same pid."""

    __slots__ = ("_texts", "instance")

    def __init__(self, *, label: str | None, command: str, cwd: str, agent: str = "", wake: str = "") -> None:
        self.instance = os.urandom(8).hex()
        process = f'{{{_this_process()},"instance":"{self.instance}"}}'
        texts = {
            "label": label or "",
            "command": "" if label else command,
            "cwd": cwd,
            "agent": agent,
            "wake": wake,
        }
        self._texts = f'"process":{process}' + _fields(texts)

    def text(self, **more: object) -> str:
        """The record as JSON, with further fields; numbers as numbers, empty texts and None left out."""
        return "{" + self._texts + _fields(more) + "}"

    def whole(self, job: Job) -> str:
        """The record of a job that comes back to the board. (One that never saw the board's clock says when it began by
        its own: that is shown, and decides nothing.)"""
        return self.text(
            owner=job.owner, session=job.session if job.session == job.owner else "", parent=job.parent,
            queuedAt=job.queued_at or int(time.time() * 1000), grantedAt=job.started_at or None,
            startedAt=job.started_at or None,
            limitMs=job.granted.limit_ms if job.granted else job.limit_ms,
        )  # fmt: skip


_known: tuple[int, str] = (0, "")


def _this_process() -> str:
    """Pid and start time, read once (a fork is another process)."""
    global _known  # noqa: PLW0603
    pid = os.getpid()
    if _known[0] != pid:
        _known = pid, f'"pid":{pid},"start":{_quoted(start_of(pid) or "")}'
    return _known[1]


def _fields(values: Mapping[str, object]) -> str:
    found = []
    for name, value in values.items():
        if isinstance(value, int):
            found.append(f',"{name}":{value}')
        elif value:
            found.append(f',"{name}":{_quoted(_whole(str(value)))}')
    return "".join(found)


def _whole(text: str) -> str:
    """Without the lone surrogates by which Python keeps bytes that are no UTF-8; JSON readers refuse them."""
    return text.encode("utf-8", "replace").decode() if not text.isascii() else text
