"""Validated files, remembered: so that a run pays for pydantic once per edit, not once per run."""

from __future__ import annotations

import marshal
import os
import sys
import time
from _sha1 import sha1

from coord import __version__, private

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from coord.home import Home

_FORMAT = 3
"""Raised with every change of what `coord.config.policy.flatten` returns."""

_DIGEST = 20
_RACY_NS = 2_000_000_000
"""The coarsest time stamps of a file system: two edits within this may leave one and the same."""


def read(home: Home, path: str) -> dict[str, Any] | None:
    """What was remembered for the file as it lies there now; None when it has to be read and validated."""
    try:
        entry = _read_file(_place(home, path))
        if entry is None:
            return None
        known, data, digest = marshal.loads(_checked(entry))  # noqa: S302 - our own file in a private folder, its digest proved
        if known != _key(os.stat(path)):
            return None
        # An edit right after the last one can leave time and size as they were: then only the content tells.
        if digest is not None and digest != _digest(_read_file(path) or b""):
            return None
    except (OSError, ValueError, TypeError, EOFError):
        return None  # unreadable or damaged is the same as not there
    return data if isinstance(data, dict) else None


def write(home: Home, path: str, status: os.stat_result, content: bytes, data: dict[str, Any]) -> None:
    """Remember `data` of a file; `status` was taken before `content` was read. Failing costs only time."""
    newest = max(status.st_mtime_ns, status.st_ctime_ns)
    digest = _digest(content) if time.time_ns() - newest < _RACY_NS else None
    entry: bytes = marshal.dumps((_key(status), data, digest))
    try:
        private.write(_place(home, path), _digest(entry) + entry)
    except OSError:
        return


def _place(home: Home, path: str) -> str:
    return os.path.join(home.cache(), sha1(os.fsencode(path), usedforsecurity=False).hexdigest())


def _key(status: os.stat_result) -> tuple[str | int, ...]:
    """All that changes when the file does, or when another program wrote the entry."""
    return (
        _FORMAT,
        __version__,
        sys.hexversion,
        status.st_mtime_ns,
        status.st_ctime_ns,
        status.st_size,
        status.st_ino,
        status.st_dev,
    )


def _checked(entry: bytes) -> bytes:
    """marshal may crash the interpreter on damaged bytes, so they are proved first."""
    if _digest(entry[_DIGEST:]) != entry[:_DIGEST]:
        raise ValueError
    return entry[_DIGEST:]


def _digest(content: bytes) -> bytes:
    return bytes(sha1(content, usedforsecurity=False).digest())


def _read_file(path: str) -> bytes | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return os.read(descriptor, os.fstat(descriptor).st_size + 1)
    finally:
        os.close(descriptor)
