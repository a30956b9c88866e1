"""Who lives on a server, for people who want to stop it."""

from __future__ import annotations

import json

from coord.keys import Keys
from coord.machine import is_gone, machine_id
from coord.names import clean
from coord.wire import connect

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_ANY_SCOPE = Keys("*").leases


def on(url: str) -> list[str]:
    """A line for each session and job with a lease on any board of the server; those whose process is seen to
    be gone are left out. For the embedded server: it looks through the keys. Raises Unavailable."""
    link = connect(url)
    try:
        found = []
        for key in sorted(_scan(link)):
            keys = Keys(key[key.index("{") + 1 : key.rindex("}")])
            for member in _list(link.call("ZRANGE", keys.leases, 0, -1)):
                kind, _, name = str(member).partition("|")
                line = _session(link, keys, name) if kind == "s" else _job(link, keys, name)
                if line:
                    found.append(f"{line} of the scope {keys.prefix[7:-2]}")
        return found
    finally:
        link.close()


def _scan(link: Any) -> set[str]:
    cursor = "0"
    found: set[str] = set()
    while True:
        answer = _list(link.call("SCAN", cursor, "MATCH", _ANY_SCOPE, "COUNT", 1000))
        cursor = str(answer[0])
        found.update(map(str, answer[1]))
        if cursor == "0":
            return found


def _job(link: Any, keys: Keys, name: str) -> str | None:
    record = _record(link.call("HGET", keys["JOBS"], name))
    process = record.get("process") or {}
    if record.get("machine") == machine_id() and process and is_gone(process.get("pid", 0), str(process.get("start"))):
        return None
    what = record.get("label") or record.get("command") or "?"
    pid = f", process {process['pid']}" if "pid" in process else ""
    return clean(f"job {name} ({record.get('queue', '?')}: {what}{pid})")


def _session(link: Any, keys: Keys, name: str) -> str:
    record = _record(link.call("HGET", keys.prefix + "sessions", name))
    return clean(f"session {record.get('label') or name}")


def _record(text: object) -> dict[str, Any]:
    try:
        record = json.loads(str(text)) if text else {}
    except ValueError:
        record = {}
    return record if isinstance(record, dict) else {}


def _list(answer: object) -> list[Any]:
    return list(answer) if isinstance(answer, (list, tuple)) else []
