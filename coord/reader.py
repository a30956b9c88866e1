"""Looks at the board without taking part: starts no server, makes no board, and never shows the dead as running.

A reader that finds processes of this machine gone says so to the board (`board_sweep`), as every participant does, and
reads again.
"""

from __future__ import annotations

import os
import select
import time
from typing import TYPE_CHECKING, Any

from coord import liveness
from coord.board import Board
from coord.config.scope import common_directory
from coord.contact import CONNECT_S
from coord.errors import Unavailable
from coord.names import clean
from coord.server import decide
from coord.server.choose import Choice, choose, name_of
from coord.view.cautions import Caution, caution
from coord.view.reading import Reading
from coord.view.whole import whole
from coord.wire import ServerError, connect
from coord.wire.url import hide_password

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coord.config.settings import Settings
    from coord.home import Home
    from coord.status import Status

MOST_FOLDERS = 32
"""Folders of jobs and sessions that are looked at, to tell two repositories in one scope."""
BRIDGELESS_MS = 60_000
"""For so long a session may be without its bridge; then whoever looks tells the board again, which ends it."""
NO_SERVER: dict[str, Any] = {"url": None, "embedded": False, "version": None, "reachable": False}
UNWATCHED_S = 0.2
"""redis-py shows no descriptor to wait for, so its messages are looked for this often."""


class Reader:
    """`board` is the board while there is a connection, else None."""

    def __init__(self, settings: Settings, home: Home, env: Mapping[str, str], *, url: str | None = None) -> None:
        self.settings, self.home, self.env = settings, home, env
        self.board: Board | None = None
        self._url = url
        self._choice = Choice(None, False)
        self._server = NO_SERVER
        self._refusal = ""

    def status(self) -> Status:
        """The picture now. Without a server it is that of an empty board. Raises `Unavailable` when a server is there,
        or was named, that cannot be used; `Elsewhere` and `ConfigError` for one that may not be used."""
        from coord.status import Status

        return Status.model_validate(self.picture())

    def picture(self) -> dict[str, Any]:
        """The same as plain data, that of `status --json`, at a fraction of the cost."""
        return self._picture(self.read())

    def away(self) -> dict[str, Any]:
        """The picture after the server was lost: where it was, and nothing more."""
        self.close()
        self._server = {**self._server, "reachable": False}
        return self._picture(_nothing())

    def read(self) -> Reading:
        """What the board holds after the dead of this machine were taken off it. Raises as `status`."""
        if self.board is None:
            self.board = self._open()
        if self.board is None:
            return _nothing()
        self._refusal = ""
        answer = self.board.enter((self.board.keys.board,), "board_read")
        reading = Reading(answer.fields, answer.now)
        if self._sees_more(reading):
            try:
                self.board.board_sweep()
            except Unavailable as error:
                # A replica, a full disk; one that is gone does not answer the next call either.
                self._refusal = str(error)
            answer = self.board.board_read()
            reading = Reading(answer.fields, answer.now)
        # What was announced before this answer stands in it.
        self.board.link.pushes.clear()
        return reading

    def _sees_more(self, reading: Reading) -> bool:
        """Whether a sweep would change something; it takes along what was seen of this machine's processes."""
        assert self.board is not None
        known = {one["id"]: one for one in reading.participants}
        entries = liveness.look(known.values(), self.board.machine)
        self.board.vouched = [entry for entry in entries if _is_news(entry, known[entry["id"]], reading.now)]
        lapsing = [one for id in reading.late if (one := known.get(id)) and one["machine"] != self.board.machine]
        return bool(self.board.vouched or lapsing)

    def wait(self, seconds: float, out: int | None = None) -> bool:
        """Waits until the board says that it changed (true), or for so long. Without a connection it only waits. Raises
        BrokenPipeError when nobody reads `out` any more."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            if self.board is not None and self._heard(self.board):
                return True
            self._sleep(left, out)
        return False

    def _heard(self, board: Board) -> bool:
        try:
            board.poll()
        except Unavailable:
            self.close()
            return True
        pushes, board.link.pushes = board.link.pushes, []
        return any(push[0] == "message" for push in pushes)

    def _sleep(self, seconds: float, out: int | None) -> None:
        poller = select.poll()
        fd = self.board.link.fileno() if self.board is not None else -1
        if fd >= 0:
            poller.register(fd, select.POLLIN)
        elif self.board is not None:
            seconds = min(seconds, UNWATCHED_S)
        if out is not None:
            poller.register(out, 0)  # errors and hang-ups are told unasked
        if any(ready == out for ready, _ in poller.poll(seconds * 1000)):
            raise BrokenPipeError

    def close(self) -> None:
        if self.board is not None:
            self.board.link.close()
            self.board = None

    # -- where it is

    def _open(self) -> Board | None:
        self._choice = choose(self.settings, self.home, self.env, url=self._url, start=False)
        try:
            return self._connect()
        except Unavailable:
            if name_of(self.settings, self.env, self._url) is not None:
                raise
            # The record still named a server that is gone: what is there without it?
            self._choice = decide.decide(self.settings.scope, self.home, self.env, None, start=False)
            return self._connect()

    def _connect(self) -> Board | None:
        url = self._choice.url
        if url is None:
            self._server = NO_SERVER
            return None
        link = connect(url, CONNECT_S)
        shown = clean(hide_password(url))
        self._server = {"url": shown, "embedded": self._choice.embedded, "version": _version(link), "reachable": True}
        return Board(link, self.settings.scope)

    # -- what there is to say

    def _picture(self, reading: Reading) -> dict[str, Any]:
        return whole(reading, self.settings, self._server, [*self._notices(), *self._repositories(reading)])

    def _notices(self) -> list[Caution]:
        said = [*([self._refusal] if self._refusal else []), *self._choice.notices]
        notices = [caution("server", clean(text)) for text in said]
        if not self.settings.trusted and notices and name_of(self.settings, self.env, self._url) is None:
            notices[-1] = caution("untrusted", notices[-1]["text"])
        return notices

    def _repositories(self, reading: Reading) -> list[Caution]:
        """A scope without a file is named after its repository, so only a file can make two share one."""
        if self.settings.path is None or self.board is None:
            return []
        mine = [one.get("cwd") for one in reading.participants if one["machine"] == self.board.machine]
        folders = sorted({os.path.dirname(self.settings.path), *(cwd for cwd in mine if cwd)})[:MOST_FOLDERS]
        found = sorted({clean(common) for folder in folders if (common := common_directory(folder))})
        if len(found) < 2:
            return []
        text = f"different repositories use the scope {clean(self.settings.scope)}: {', '.join(found)}"
        return [caution("twoRepositories", text)]


def _is_news(entry: dict[str, Any], known: dict[str, Any], now: int) -> bool:
    """What the board knows already is not told again: each telling would wake all who watch."""
    if entry["is"] == "orphaned":
        return bool(known["state"] != "orphaned" or known.get("pids") != entry["pids"])
    if entry["is"] == "bridgeless":
        since = known.get("bridgeLostAt")
        return since is None or not 0 <= now - since < BRIDGELESS_MS
    return bool(entry["is"] == "gone")


def _nothing() -> Reading:
    return Reading({}, int(time.time() * 1000))


def _version(link: Any) -> str | None:
    """What the server says of itself to everybody; a client of a cluster may hear another answer."""
    try:
        answer = link.call("HELLO")
    except ServerError:
        return None
    version = answer.get("version") if isinstance(answer, dict) else None
    return clean(str(version)) if version else None
