"""Which server a scope lives on (design 10, "Which server").

HOT: imported by `omp-coord run`, which is answered from the scope's record without looking at any server. The
decision behind the record is looked at again (`decide`) when

- there is no record, or its embedded server's socket is gone,
- another server is asked for by name,
- it is older than 10 s (60 s when 127.0.0.1:6379 was found unfit, which takes longer to see than that nothing
  listens there): then a record in which nobody lives any more is void, and an embedded one yields to
  127.0.0.1:6379,
- the caller could not connect: `rechoose`.

So a run pays for a look at 127.0.0.1:6379 at most once in 10 s, and a server that comes up there is seen
after 10 s.
"""

from __future__ import annotations

import os

from coord.private import own_socket
from coord.server import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from coord.config.settings import Settings
    from coord.errors import Elsewhere
    from coord.home import Home
    from coord.server.record import Record

LOOK_AGAIN_S = 10.0
LOOK_AGAIN_AT_UNFIT_S = 60.0


class Choice:
    """`url` is where to connect (None: no server runs and none was to be started), `embedded` whether that is
    our own server, `fresh_allowed` whether a board missing there need not settle (design 21), `notices` lines
    for stderr."""

    __slots__ = ("embedded", "fresh_allowed", "notices", "url")

    def __init__(
        self, url: str | None, embedded: bool, fresh_allowed: bool = False, notices: list[str] | None = None
    ) -> None:
        self.url = url
        self.embedded = embedded
        self.fresh_allowed = fresh_allowed
        self.notices = notices or []


def choose(
    settings: Settings, home: Home, env: Mapping[str, str], *, url: str | None = None, start: bool = True
) -> Choice:
    """The server for the scope of `settings`; `url` is what --redis says; `start` whether an embedded one may
    be started (reading commands: no, and then nothing is written down either).

    A server that was chosen before is not looked at, so connecting may still fail: then ask `rechoose`.
    Raises Elsewhere when the scope lives on another server than the one named (see `follow`), Unavailable,
    and ConfigError for a malformed URL.
    """
    named = name_of(settings, env, url)
    known = record.read(home, settings.scope)
    if known is not None and is_current(known, named):
        choice = chosen(home, settings.scope, named or known.url, known.embedded)
    else:
        from coord.server import decide

        choice = decide.decide(settings.scope, home, env, named, start)
    if named is None and settings.redis_url:
        choice.notices.append(_untrusted(settings))
    return choice


def rechoose(
    settings: Settings,
    home: Home,
    env: Mapping[str, str],
    *,
    lost: str,
    url: str | None = None,
    patience: float = 0.0,
    within: float | None = None,
) -> Choice:
    """The server for a participant that lost `lost`: at once when that was the embedded one (which is started
    again), after 3 s without it otherwise. A caller that has not waited says with `patience` how many seconds this
    shall wait for `lost` to answer: whoever moved a scope off a server that is only being restarted would part from
    those that are connected to it again a moment later. `within`: about how many seconds the decision may take.

    All participants of a scope move together, since they go by its record: the first one moves it, the others
    (and those that could connect to `lost` again) find it moved. A server that was asked for by name is never
    left for the embedded one: then the choice is `lost` again. Raises Unavailable when there is no server to
    be had.
    """
    from coord.server import decide

    decide.wait_for(settings.scope, home, lost, patience)
    in_all = decide.IN_ALL_S if within is None else within
    return decide.decide_again(settings.scope, home, env, name_of(settings, env, url), lost, in_all)


def follow(settings: Settings, home: Home, error: Elsewhere) -> Choice:
    """The choice for a caller that goes where the scope lives although it was asked for another server."""
    known = record.read(home, settings.scope)
    embedded = known is not None and known.url == error.url and known.embedded
    return chosen(home, settings.scope, error.url, embedded, [f"{error}; going where it lives"])


def name_of(settings: Settings, env: Mapping[str, str], url: str | None) -> str | None:
    """The server asked for by name: --redis, the environment, or the file if it may name that one."""
    return url or env.get("OMP_COORD_REDIS_URL") or (settings.redis_url if settings.trusted else None)


def _untrusted(settings: Settings) -> str:
    from coord.wire.url import hide_password

    return (
        f"{settings.path} names a server on another machine ({hide_password(settings.redis_url or '')}), "
        "which is not used before `omp-coord config trust` allows it"
    )


def is_current(known: Record, named: str | None) -> bool:
    """Whether the record answers without a look at any server."""
    if named is not None:
        return named == known.url
    if not 0 <= known.age < (LOOK_AGAIN_AT_UNFIT_S if known.skipped else LOOK_AGAIN_S):
        return False
    return not known.embedded or own_socket(socket_of(known.url))


def chosen(home: Home, scope: str, url: str, embedded: bool, notices: list[str] | None = None) -> Choice:
    """The choice of `url`; a new board there need not settle when it is this user's own and they never knew
    another."""
    fresh = embedded and not os.path.exists(f"{home.machine}/epochs/{record.file_name(scope)}")
    return Choice(url, embedded, fresh, notices)


def socket_of(url: str) -> str:
    """The path in a unix:// URL of ours."""
    if "%" not in url:
        return url[7:]
    from coord.wire.url import Address

    return Address(url).path
