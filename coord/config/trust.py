"""Files whose `redis.url` may lead away from this machine: each by its real path and its exact content."""

from __future__ import annotations

import os
from _sha1 import sha1

TYPE_CHECKING = False
if TYPE_CHECKING:
    from coord.home import Home


def is_trusted(home: Home, path: str, content_hash: str) -> bool:
    """Whether somebody trusted this file with this content (its SHA-256 in hex)."""
    try:
        return os.path.exists(_mark(home, path, content_hash))
    except OSError:
        return False


def trust(home: Home, path: str, content_hash: str) -> None:
    """Trust this file as long as its content is this one. OSError when that cannot be remembered."""
    descriptor = os.open(_mark(home, path, content_hash), os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        os.write(descriptor, os.fsencode(os.path.realpath(path)) + b"\n")
    finally:
        os.close(descriptor)


def _mark(home: Home, path: str, content_hash: str) -> str:
    real = sha1(os.fsencode(os.path.realpath(path)), usedforsecurity=False).hexdigest()
    return os.path.join(home.trust(), f"{real}-{content_hash}")
