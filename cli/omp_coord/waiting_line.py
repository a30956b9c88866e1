"""The line that tells of a wait: on a terminal one line kept up to date; elsewhere, and in the background, one when the place
changes."""

from __future__ import annotations

import os
import time

from omp_coord.say import Notices, has_room, write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from coord.run.job import Job

EVERY_S = 30.0
"""Without a terminal, at most one line in this time."""


class WaitingLine:
    """What `coord.run.runner` shows. `quiet` silences the waiting line only, never a notice."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._notices = Notices()
        self._since = 0.0
        self._shown = ""
        self._drawn = False
        self._place = 0
        self._next = 0.0
        self._terminal: bool | None = None

    def notice(self, text: str) -> None:
        self.quiet()
        for line in text.splitlines():
            self._notices.say(line)

    def waiting(self, job: Job) -> None:
        if self._quiet or job.waiting is None:
            return
        now = time.monotonic()
        self._since = self._since or now
        if self._terminal is None:
            self._terminal = os.isatty(2) and os.environ.get("TERM", "dumb") != "dumb" and not os.environ.get("CI")
        if self._terminal and _in_foreground():
            self._redraw(_sentence(job, now - self._since))
        elif job.waiting.place != self._place and now >= self._next:
            self._place, self._next = job.waiting.place, now + EVERY_S
            self._notices.say(_sentence(job, now - self._since))

    def quiet(self) -> None:
        if self._drawn:
            self._drawn, self._shown = False, ""
            if _in_foreground() and has_room():
                _write("\r\x1b[K")

    def end(self) -> None:
        """The runner ends: what it could not say before is said now, or never."""
        self._notices.end()

    def _redraw(self, sentence: str) -> None:
        if sentence == self._shown or not has_room():
            return
        self._shown, self._drawn = sentence, True
        _write("\r\x1b[K" + _fit(f"omp-coord: {sentence}"))


def _in_foreground() -> bool:
    """Whether the line that the cursor is in is ours; in the background it is the shell's, and what the user types there."""
    try:
        return os.tcgetpgrp(2) == os.getpgrp()
    except OSError:
        return True  # a terminal that controls nobody here


def _sentence(job: Job, waited: float) -> str:
    waiting = job.waiting
    assert waiting is not None
    about = "about " if waiting.about else ""
    what = f"waiting for {job.queue}, {about}place {waiting.place}"
    if job.contact.board is None:
        what = f"waiting for {job.queue}, the server is away"
    elif waiting.cause == "settling":
        what = f"waiting for {job.queue}, the board is settling"
    elif waiting.cause == "paused":
        what += ", the scope is paused"
    # The holders last: a narrow terminal cuts what stands there.
    return " · ".join([what, f"waited {_span(waited)}", *map(_holder, waiting.holders[:2])])


def _holder(one: dict[str, Any]) -> str:
    name = str(one.get("label") or one.get("command") or one["id"])
    since = one.get("startedAt") or one.get("grantedAt") or one["queuedAt"]
    return f"{name[:40]} since {time.strftime('%H:%M:%S', time.localtime(since / 1000))}"


def _span(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h{minutes:02}m" if hours else f"{minutes}m{rest:02}s" if minutes else f"{rest}s"


def _fit(text: str) -> str:
    """Cut to the terminal's width, so that it stays one line that can be drawn over."""
    from coord.names import clean
    from coord.view.table import cut

    try:
        width = os.get_terminal_size(2).columns or 80  # 0: a terminal that nobody gave a size (containers, `script`)
    except OSError:
        width = 80
    return cut(clean(text), max(2, width - 1))


def _write(text: str) -> None:
    write(text.encode("utf-8", "replace"))
