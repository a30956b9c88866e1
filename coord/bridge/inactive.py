"""Opening a session, or saying why it is not on the board; and coming onto the board when that has changed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from coord.bridge.agents import Mirror
from coord.bridge.apart import FileMark, load_lean
from coord.bridge.protocol import PROTOCOL
from coord.bridge.session import Session
from coord.contact import Contact
from coord.errors import BoardFault, ConfigError, NewerBoard, Unavailable
from coord.home import Home
from coord.names import clean

if TYPE_CHECKING:
    from collections.abc import Mapping


class Closed(Exception):
    """A session is not on the board; `code` and the text say why."""

    def __init__(self, code: str, reason: str, session: Session | None = None) -> None:
        super().__init__(clean(reason))
        self.code = code
        self.session = session

    @property
    def words(self) -> str:
        """For agents and people who ask."""
        return f"omp-coord is not active in this session ({self.code}): {self}"


class Opening:
    """What a host said when it opened a session: enough to try again."""

    def __init__(self, params: dict[str, Any], env: Mapping[str, str], home: Home) -> None:
        self.protocol = params["protocol"]
        self.cwd = os.path.abspath(params["cwd"])
        self.host_session, self.pid = params["sessionId"], params["pid"]
        self.plugin = str((params.get("host") or {}).get("plugin") or "")
        self.shown = set(params.get("shown") or ())
        self.agents = Mirror(params.get("agents") or ())
        self.env, self.home = env, home
        self.mark = FileMark(self.cwd, env)
        self.warnings: list[str] = []

    def same_host_session(self, other: Opening) -> bool:
        return (self.host_session, self.pid) == (other.host_session, other.pid) and bool(self.host_session)

    def join(self) -> Session:
        """A session on the board. Raises `Closed`."""
        if self.env.get("OMP_COORD") == "off":
            raise Closed("off", "OMP_COORD=off: omp-coord is switched off for this session")
        if self.protocol != PROTOCOL:
            raise Closed(
                "upgrade",
                f"the plugin speaks protocol {self.protocol}, this omp-coord speaks {PROTOCOL}: update the older of the two",
            )
        session = self._session()
        try:
            session.open()
        except NewerBoard as error:
            raise Closed("upgrade", str(error)) from None
        except ConfigError as error:
            raise Closed("badConfig", str(error)) from None
        except (Unavailable, BoardFault) as error:
            session.wait_for_board()
            raise Closed("noServer", f"the board cannot be reached: {error}", session) from None
        return session

    def _session(self) -> Session:
        try:
            settings = load_lean(self.cwd, self.env, self.home)
        except ConfigError as error:
            raise Closed("badConfig", str(error).splitlines()[0]) from None
        if settings is None:
            raise Closed(
                "noConfig",
                f"no .omp-coord.json in {self.cwd} or above: agents are not capped; `omp-coord init` writes one",
            )
        self.warnings = settings.warnings
        contact = Contact(settings, self.home, self.env, lasting=True)
        return Session(contact, cwd=self.cwd, host_session=self.host_session, pid=self.pid, agents=self.agents)
