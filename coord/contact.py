"""A participant's contact with its board: the choice of the server, the connection, what is done when it is lost.

The coordinator's absence kills nobody: a lost server is looked for again, quickly at first, then every two seconds; a
dead embedded server is started again at once; after 3 s without another server the choice is made anew through the
scope's record, so that all participants move together (design 10).
"""

from __future__ import annotations

import os
import time

from coord.board import Board
from coord.epoch_note import EpochNote
from coord.errors import Elsewhere, Unavailable
from coord.scripts import remembered
from coord.server import record
from coord.server.choose import choose, follow, rechoose
from coord.wire import connect

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from coord.answers import Answer
    from coord.config.settings import Settings
    from coord.errors import CoordError
    from coord.home import Home
    from coord.scripts import Script
    from coord.server.choose import Choice

CONNECT_S = 1.0
"""Seconds that a server may take to accept a connection and greet."""
LAST_LOOK_S = 0.3
"""The same for one that has had its time."""
RECHOOSE_S = 3.0
RETRY_S = 1.0
"""Seconds that a look for a lost server may take; who looks is deaf meanwhile, also to the end of its command."""
NOTE_S = 2.0
"""A lasting contact looks after its note of the epoch as often as a job beats."""


class Contact:
    """`board` is the board while there is contact, else None. `goes_along`: with where the scope lives, when asked for
    another server. `lasting`: used for one job after another, so the last participant's tidying waits for `close`."""

    def __init__(
        self,
        settings: Settings,
        home: Home,
        env: Mapping[str, str],
        *,
        url: str | None = None,
        goes_along: bool = True,
        lasting: bool = False,
    ) -> None:
        self.settings = settings
        self.home = home
        self.env = env
        self.board: Board | None = None
        self.lost_at: float | None = None
        self.wake = "c-" + os.urandom(8).hex()  # the channel of the jobs that use this contact one after another
        self._url = url
        self._goes_along, self._lasting = goes_along, lasting
        self._note, self._noted_at = EpochNote(home, settings.scope), 0.0
        self._alone = False
        self._notices: list[str] = []
        self._said: set[str] = set()
        self.faulty = False  # whether it was said that the board cannot be used
        self._choice: Choice | None = None
        self._next_try = 0.0
        self._tries = 0
        self._file = mark_of(settings.path)
        self._loaded: dict[str, Script] | None = None
        self._record: tuple[int, int, int] | None = None

    def open(self) -> Board:
        """The board, for the first time. Raises `Unavailable`, `ConfigError`, `Elsewhere` (unless the contact goes
        along with where the scope lives)."""
        began = time.monotonic()
        try:
            choice = self._chosen()
        except Unavailable:
            self.lost_at = time.monotonic()
            self._try_later(self.lost_at - began)
            raise
        try:
            return self._connect(choice)
        except Unavailable:
            if choice.url is None:
                raise
            return self.again(time.monotonic() - began)

    def again(self, spent: float = 0.0) -> Board:
        """The board after its connection failed: the server has 3 s to answer, less those already `spent`, then the choice
        is made anew. Raises `Unavailable`."""
        lost = self._choice
        self.lose()
        left = max(RETRY_S, RECHOOSE_S - spent)
        choice = rechoose(
            self.settings, self.home, self.env, lost=(lost.url if lost else None) or "", url=self._url,
            patience=left, within=left if lost and lost.embedded else None,
        )  # fmt: skip
        return self._connect(choice, CONNECT_S if lost is None or choice.url != lost.url else LAST_LOOK_S)

    def _chosen(self) -> Choice:
        try:
            return choose(self.settings, self.home, self.env, url=self._url)
        except Elsewhere as elsewhere:
            if not self._goes_along:
                raise
            self._url = None
            return follow(self.settings, self.home, elsewhere)

    def moved(self) -> bool:
        """Whether the scope may live elsewhere now: while nobody lived on its server, another participant was free to
        move it. For a contact that lay idle."""
        mark = mark_of(record.path(self.home, self.settings.scope))
        if mark is not None and mark == self._record:
            return False
        self._record = mark
        known = record.read(self.home, self.settings.scope)
        return known is None or self._choice is None or known.url != self._choice.url

    def _connect(self, choice: Choice, within: float = CONNECT_S) -> Board:
        # While a server is of no use it is chosen again every two seconds; what there is to say about it is said once.
        self._notices += [text for text in choice.notices if text not in self._said]
        self._said.update(choice.notices)
        self._choice = choice
        if choice.url is None:
            raise Unavailable("no server runs; `omp-coord server start` starts one")
        link = connect(choice.url, min(CONNECT_S, within))
        self.board = Board(link, self.settings.scope, fresh=choice.fresh_allowed, loaded=self._scripts())
        return self.board

    def _scripts(self) -> dict[str, Script]:
        if self._loaded is None:  # once: the files may be another version's by the time of a reconnect
            try:
                self._loaded = remembered(self.home.cache())
            except OSError:
                self._loaded = {}
        return self._loaded

    def lose(self) -> None:
        """The connection failed: `board` is None until `retry` finds it again."""
        if self.board is not None:
            self.board.link.close()
            self.board = None
        now = time.monotonic()
        if self.lost_at is None:
            self.lost_at = self._next_try = now
        elif self._next_try <= now:  # it was there again, and of no use
            self._try_later(0.0)

    def fault(self, error: CoordError) -> None:
        """The board is there, but cannot be used: as `lose`, and said once."""
        self.lose()
        if not self.faulty:
            self.faulty = True
            self._notices.append(f"{error}; going on without the board")

    def retry(self, within: float = RETRY_S) -> Board | None:
        """Tries for about `within` seconds to find the board again when a try is due; a caller that gets it registers
        all it really holds."""
        now = time.monotonic()
        if now < self._next_try:
            return None
        try:
            return self._connect(self._next_choice(now, within), within)
        except (Unavailable, Elsewhere):
            self._try_later(time.monotonic() - now)
            return None

    def _try_later(self, took: float) -> None:
        """A server that is lost is back soon. Where none could even be chosen, a look may take seconds, which the caller
        spends deaf: then about a twentieth of the time goes into it. (A minute at most: the look that a suspended machine
        interrupted for an hour says nothing of the next one.)"""
        self._tries += 1
        pause = min(60.0, max(2.0, 20 * took)) if self._choice is None else min(2.0, 0.1 * 2**self._tries)
        self._next_try = time.monotonic() + pause

    def _next_choice(self, now: float, within: float) -> Choice:
        known = self._choice
        if known is None:
            return self._chosen()
        waited = now - (self.lost_at or now)
        if known.url is not None and not known.embedded and waited < RECHOOSE_S:
            known.notices = []
            return known
        return rechoose(self.settings, self.home, self.env, lost=known.url or "", url=self._url, within=within)

    @property
    def retry_in(self) -> float:
        """Seconds until a retry is due."""
        return max(0.0, self._next_try - time.monotonic())

    @property
    def lost_for(self) -> float:
        """Seconds without a server; 0 while there is contact."""
        return 0.0 if self.lost_at is None else time.monotonic() - self.lost_at

    @property
    def server(self) -> str:
        """The server's URL without its password, for people."""
        from coord.wire.url import hide_password

        return hide_password(self._choice.url or "") if self._choice else ""

    def listen(self, seconds: float) -> None:
        """Sleeps until the connection has news, at most `seconds`. One without a descriptor (see `ClientLink`) is looked
        at every 0.1 s."""
        fd = self.board.link.fileno() if self.board is not None else -1
        if fd < 0:
            time.sleep(min(seconds, 0.1))  # redis-py shows no descriptor that could be waited for
            return
        from select import POLLIN, poll

        news = poll()
        news.register(fd, POLLIN)
        news.poll(max(1, int(seconds * 1000)))

    def told(self) -> list[str]:
        """The notices since the last call."""
        notices, self._notices = self._notices, []
        return notices

    def knows(self, answer: Answer) -> None:
        """Told of every answer: notes that this user knows the board's epoch, so that a new board of this scope settles
        before it grants."""
        self._alone = False
        self.lost_at, self._tries = None, 0
        self._said.clear()
        if self.board is not None:
            self.board.known()
        now = time.monotonic()
        if self._lasting and now - self._noted_at < NOTE_S:
            return
        self._noted_at = now
        self._note.keep(answer.epoch)

    def forget(self, *, closing: bool = False) -> None:
        """The last participant left: a new board has nobody to wait for. (The scope's record stays for the 10 s that it
        answers without a look at any server; a record in which nobody lives is void after that.)"""
        if self._lasting and not closing:
            self._alone = True
            return
        self._note.drop()

    def policy_news(self, queue: str, lane: str) -> tuple[str, str]:
        """The policy and its JSON when the configuration file changed and is valid, else two empty texts; an invalid
        one is noted once and the old one kept."""
        mark = mark_of(self.settings.path)
        if mark is None or mark == self._file:
            return "", ""
        self._file = mark
        from coord.config.load import load
        from coord.errors import ConfigError

        old = self.settings
        try:
            new = load(os.path.dirname(old.path or ""), self.env, self.home, named=old.path, scope=old.scope)
            new.queue(queue, lane)
        except ConfigError as error:
            self._notices.append(f"the changed {old.path} is not used: {str(error).splitlines()[0]}")
            return "", ""
        if new.policy == old.policy:
            return "", ""
        self.settings = new
        return new.policy, new.policy_json

    def close(self) -> None:
        if self._alone:
            self.forget(closing=True)
        if self.board is not None:
            self.board.link.close()
            self.board = None


def mark_of(path: str | None) -> tuple[int, int, int] | None:
    """What changes when a file is written."""
    if path is None:
        return None
    try:
        info = os.stat(path)
    except OSError:
        return None
    return info.st_mtime_ns, info.st_size, info.st_ino
