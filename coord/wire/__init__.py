"""Connections to a server, one small interface over two ways of speaking."""

from __future__ import annotations

from coord.wire.link import Link, ServerError
from coord.wire.url import Address

TYPE_CHECKING = False
if TYPE_CHECKING:
    from coord.wire.cluster import ClientLink

__all__ = ["Address", "Link", "ServerError", "connect"]


def connect(url: str, timeout: float = 3.0) -> Link | ClientLink:
    """Connects to a server; raises `ConfigError` for an unusable URL and `Unavailable` when nobody answers."""
    address = Address(url)
    if address.plain:
        return Link(address, timeout)
    from coord.wire.cluster import ClientLink

    return ClientLink(address, timeout)
