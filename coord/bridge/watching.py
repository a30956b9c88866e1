"""The configuration file of a session: a valid change is taken up, an invalid one reported, a missing one waited for."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from coord.bridge.apart import load_lean
from coord.bridge.inactive import Closed
from coord.errors import ConfigError
from coord.names import clean

if TYPE_CHECKING:
    from coord.bridge.bridge import Bridge
    from coord.bridge.inactive import Opening
    from coord.bridge.session import Session

LOOK_S = 1.0
"""Seconds between two looks at the file."""
GONE = "the configuration file is gone"
UNWATCHED = ("off", "upgrade")


class Watching:
    """Looks at the file of the bridge's session, if it has one."""

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge
        self._look_at = 0.0
        self._loads = False

    def tick(self) -> float:
        """Seconds until the next look."""
        bridge, now = self._bridge, time.monotonic()
        if bridge.opening is None or self._loads or (bridge.closed and bridge.closed.code in UNWATCHED):
            return 60.0
        if now >= self._look_at:
            self._look_at = now + LOOK_S
            if bridge.opening.mark.changed():
                self._load(bridge.opening)
        return max(0.0, self._look_at - now)

    def _load(self, opening: Opening) -> None:
        bridge = self._bridge
        session = bridge.session if bridge.closed is None else None
        self._loads = True

        def then(found: Any) -> None:
            self._loads = False
            if opening is bridge.opening and session is (bridge.session if bridge.closed is None else None):
                self._loaded(session, found)

        bridge.errands.send(lambda: load_lean(opening.cwd, bridge.env, bridge.home), then)

    def _loaded(self, session: Session | None, found: Any) -> None:
        if session is not None:
            self._changed(session, found)
        elif found is None or isinstance(found, ConfigError):
            self._closed("badConfig" if found else "noConfig", found)
        elif not isinstance(found, Exception):  # else it could not be read just now: what is there stays
            self._join()

    def _closed(self, code: str, found: Exception | None) -> None:
        """A session that was not on the board has no file now, or an invalid one: it waits for no server any more."""
        bridge = self._bridge
        before, bridge.closed = bridge.closed, Closed(code, str(found).splitlines()[0] if found else GONE)
        self._drop()
        bridge.told.no_footer()
        if code == "badConfig" and before is not None and before.code != code:
            bridge.told.notify("error", str(bridge.closed))

    def _drop(self) -> None:
        """Ends the wait for a server."""
        if self._bridge.session is not None:
            self._bridge.session.contact.close()
            self._bridge.session = None

    def _join(self) -> None:
        """A session that was not on the board has a valid file now."""
        bridge = self._bridge
        self._drop()
        result = bridge.join()
        if result["active"]:
            bridge.join_late(result)
        else:
            bridge.told.notify("error", result["reason"])

    def _changed(self, session: Session, found: Any) -> None:
        """A running session takes up a valid file at its next beat; an invalid one is reported, and the old one kept."""
        told = self._bridge.told
        if isinstance(found, ConfigError):
            told.notify("error", f"the changed configuration is not used: {clean(str(found).splitlines()[0])}")
        elif isinstance(found, Exception) or found is None:
            return  # the file is being replaced, or was taken away: what was agreed stays
        else:
            if found.scope != (scope := session.contact.settings.scope):
                told.notify("warning", f"{found.path} names the scope {found.scope} now: this session stays in {scope}")
                found.scope = scope
            if found.policy != session.contact.settings.policy:
                session.policy = found.policy, found.policy_json
                session.beat_now()
            session.contact.settings = found  # also what is no policy, such as the rules for commands
