"""The decision behind a scope's record: made by one process at a time, written down for all (design 10,
"Which server")."""

from __future__ import annotations

import time

from coord.errors import Elsewhere, Unavailable
from coord.home import unavailable
from coord.server import choose, embedded, probe, record
from coord.server.lock import Lock
from coord.wire.url import Address, hide_password

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from coord.home import Home
    from coord.server.choose import Choice
    from coord.server.probe import Look
    from coord.server.record import Record

LOCAL_URL = "redis://127.0.0.1:6379"
"""What `docker compose up redis` gives."""

LOCAL_TIMEOUT_S = 0.3
IN_ALL_S = 3.0
"""What a decision may take: a run without a server loses no more (design 10, "No server")."""

NAMED_KEPT_S = 600.0
"""How long a server that somebody named and that does not answer is still waited for by those who named
none."""


def decide(scope: str, home: Home, env: Mapping[str, str], named: str | None, start: bool) -> Choice:
    """See `choose.choose`."""
    decision = Decision(scope, home, env, IN_ALL_S, start=start)
    if not start:
        return decision.make(named)
    try:
        with _lock(home, scope, IN_ALL_S):
            known = decision.known = record.read(home, scope)
            if known is not None and choose.is_current(known, named):
                return choose.chosen(home, scope, named or known.url, known.embedded)
            return decision.make(named)
    except OSError as error:
        raise unavailable(error) from error


def decide_again(scope: str, home: Home, env: Mapping[str, str], named: str | None, lost: str, in_all: float) -> Choice:
    """See `choose.rechoose`."""
    decision = Decision(scope, home, env, in_all)
    try:
        with _lock(home, scope, in_all):
            decision.known = record.read(home, scope)
            return decision.make_again(named, lost)
    except OSError as error:
        raise unavailable(error) from error


def wait_for(scope: str, home: Home, lost: str, patience: float) -> None:
    """Returns when `lost` answers, when the scope has been moved off it, or after `patience` seconds."""
    end = time.monotonic() + patience
    while time.monotonic() < end and embedded.socket_url(home) != lost:
        known = record.read(home, scope)
        if known is None or known.url != lost or probe.look(Address(lost), scope, LOCAL_TIMEOUT_S).problem is None:
            return
        time.sleep(0.05)  # neither the record nor a server that is back gives an event


def _lock(home: Home, scope: str, wait: float) -> Lock:
    return Lock(f"{home.scopes()}/{record.file_name(scope)}.lock", wait)


def place(url: str) -> str:
    """The server and database that a URL names, without who asks: two URLs for one place give the same
    text."""
    address = Address(url)
    hosts = [(host.lower().replace("localhost", "127.0.0.1"), port) for host, port in address.hosts]
    return f"{address.scheme} {sorted(hosts)} {address.path} {address.service} {address.db}"


class Decision:
    """One decision for one scope; the scope's lock is held when `start`, and only then is anything
    written."""

    def __init__(self, scope: str, home: Home, env: Mapping[str, str], in_all: float, *, start: bool = True) -> None:
        self.scope, self.home, self.env, self.start = scope, home, env, start
        self.known = record.read(home, scope)
        self.end = time.monotonic() + in_all
        self.skipped = ""
        self.notices: list[str] = []

    def make(self, named: str | None) -> Choice:
        if named is not None:
            return self.named(named)
        return self.where_it_lives() or self.local() or self.own()

    def make_again(self, named: str | None, lost: str) -> Choice:
        known = self.known
        by_name = named is not None and place(named) == place(lost)
        if known is not None and known.url != lost:
            # Another participant has moved it already; only who asked for `lost` by name does not go to the embedded.
            return self.of(lost) if by_name and known.embedded else self.of(known.url, embedded=known.embedded)
        if lost == embedded.socket_url(self.home):
            return self.own()
        if by_name or (known is not None and known.named and known.age < NAMED_KEPT_S):
            return self.of(lost)
        return self.local() or self.moved(lost)

    def named(self, url: str) -> Choice:
        there = self.known.url if self.known is not None else embedded.url(self.home)
        if there is not None and place(there) != place(url) and self.look(there, LOCAL_TIMEOUT_S).living:
            raise Elsewhere(
                f"the scope {self.scope} lives on {hide_password(there)} now, not on {hide_password(url)}: "
                "name no server, or end what runs there first",
                there,
            )
        seen = self.look(url, self.left())
        if seen.problem is not None:
            raise Unavailable(f"the server {hide_password(url)} {seen.problem}")
        if seen.evicts:
            self.notices.append(
                f"the server {hide_password(url)} may evict keys (maxmemory-policy {seen.evicts}): "
                "set it to noeviction, or the board will lose parts of itself"
            )
        return self.keep(url, named=True)

    def where_it_lives(self) -> Choice | None:
        """Where somebody of the scope lives, by its record or on the embedded server; None when that is
        nowhere."""
        known = self.known
        if known is not None and not known.embedded:
            choice = self.still_there(known)
            if choice is not None:
                return choice
        own = embedded.url(self.home)
        if own is not None and self.look(own, LOCAL_TIMEOUT_S).living:
            return self.keep(own, embedded=True)
        return None

    def still_there(self, known: Record) -> Choice | None:
        seen = self.look(known.url, LOCAL_TIMEOUT_S)
        if seen.living:
            return self.keep(known.url, named=known.named)
        if seen.living == 0 or known.boot != record.boot_id() or not self.start:
            return None
        # It does not answer, and who lives there waits for it. Only after 3 s may the scope move
        # (`rechoose`), all at once; whoever moved it now would part from those that are connected again in a
        # second.
        return None if known.named and known.age > NAMED_KEPT_S else self.of(known.url)

    def local(self) -> Choice | None:
        """The server on 127.0.0.1:6379 when it may be taken unasked."""
        seen = self.look(LOCAL_URL, LOCAL_TIMEOUT_S)
        self.skipped = (seen.unfit or "") if seen.reached else ""
        if seen.unfit is not None:
            return None
        if self.known is not None and self.known.embedded:
            self.notices.append(f"the scope {self.scope} now lives on {LOCAL_URL}; nobody lived on the embedded server")
        return self.keep(LOCAL_URL)

    def own(self) -> Choice:
        """The embedded server, started when that is allowed and it does not run."""
        if not self.start:
            return self.of(embedded.url(self.home), embedded=True)
        started = embedded.start(self.home, self.env, wait=self.left())
        if started.notice:
            self.notices.append(started.notice)
        return self.keep(started.url, embedded=True)

    def moved(self, lost: str) -> Choice:
        choice = self.own()
        choice.notices.append(f"{hide_password(lost)} is gone; the scope {self.scope} moves to the embedded server")
        return choice

    def left(self) -> float:
        return max(0.1, self.end - time.monotonic())

    def look(self, url: str, timeout: float) -> Look:
        return probe.look(Address(url), self.scope, timeout)

    def keep(self, url: str, *, embedded: bool = False, named: bool = False) -> Choice:
        """The choice of `url`, written down."""
        if self.start:
            try:
                record.write(self.home, self.scope, url, embedded, named=named, skipped=self.skipped)
            except OSError as error:
                self.notices.append(f"cannot write down where the scope {self.scope} lives: {error.strerror or error}")
        return self.of(url, embedded=embedded)

    def of(self, url: str | None, *, embedded: bool = False) -> Choice:
        if url is None:
            return choose.Choice(None, False, notices=self.notices)
        return choose.chosen(self.home, self.scope, url, embedded, self.notices)
