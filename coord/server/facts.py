"""What a running server says about itself."""

from __future__ import annotations

from coord.server import pids
from coord.wire import connect
from coord.wire.link import ServerError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from coord.home import Home
    from coord.server.choose import Choice


def facts(home: Home, scope: str, choice: Choice) -> dict[str, Any]:
    """The fields of `omp-coord server status --json`; what the server does not tell this user is None. Raises
    Unavailable when it is chosen and does not answer."""
    info = _info(choice.url) if choice.url else {}
    kind = "valkey" if "valkey_version" in info else "redis"
    version = info.get(f"{kind}_version")
    return {
        "version": 1,
        "scope": scope,
        "url": choice.url,
        "running": choice.url is not None,
        "embedded": choice.embedded if choice.url else None,
        "program": f"{kind} {version}" if version else None,
        "pid": pids.read(home).get("server") if choice.embedded else _number(info.get("process_id")),
        "uptimeSeconds": _number(info.get("uptime_in_seconds")),
        "clients": _number(info.get("connected_clients")),
        "memoryBytes": _number(info.get("used_memory")),
        "evictionPolicy": info.get("maxmemory_policy"),
        "folder": home.machine + "/server" if choice.embedded else None,
        "log": home.machine + "/logs/server.log" if choice.embedded else None,
    }


def _info(url: str) -> dict[str, str]:
    link = connect(url)
    try:
        answer = link.call("INFO")
    except ServerError:
        return {}  # an ACL user need not be allowed to ask
    finally:
        link.close()
    if isinstance(answer, dict):
        return {str(name): str(value) for name, value in answer.items()}
    return dict(line.split(":", 1) for line in str(answer).splitlines() if ":" in line)


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isdigit() else None
