from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

from coord.wire import Address, Link, connect
from tests.coord.wire.puppet import Puppet
from tests.servers import Server


@pytest.fixture
def puppet() -> Iterator[Puppet]:
    """A server that the test plays itself."""
    puppet = Puppet()
    yield puppet
    puppet.close()


@pytest.fixture
def played(puppet: Puppet) -> Iterator[Link]:
    """A connection to it."""
    link = Link(Address(puppet.url))
    yield link
    link.close()


@pytest.fixture
def link(server: Server) -> Iterator[Link]:
    """A connection to a real server of each kind."""
    link = connect(server.url)
    assert isinstance(link, Link)
    yield link
    link.close()
    with contextlib.closing(connect(server.url)) as admin:
        keys = admin.call("KEYS", "link-*")
        if isinstance(keys, list) and keys:
            admin.call("DEL", *keys)
