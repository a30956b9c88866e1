"""The `redis.url` of a file: its variables filled in, and whether it stays on this machine."""

from __future__ import annotations

from coord.errors import ConfigError
from coord.names import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def variables(url: str) -> list[str]:
    """The names in `${…}`, in order; ConfigError when one is not closed or is no name."""
    names = []
    for part in url.split("${")[1:]:
        name, closed, _ = part.partition("}")
        if not closed or not name.isidentifier():
            raise ConfigError('"${" must be followed by the name of a variable and "}".')
        names.append(name)
    return names


def expand(url: str, env: Mapping[str, str], source: str) -> str:
    """`url` of the file `source` with each `${VAR}` taken from `env`; ConfigError for a missing one."""
    head, *rest = url.split("${")
    for name, part in zip(variables(url), rest, strict=True):
        if name not in env:
            raise ConfigError(f"{clean(source)}: redis.url: the environment has no variable {name}: set it.")
        head += env[name] + part[len(name) + 1 :]
    return head


def stays_here(url: str) -> bool:
    """Whether every server that `url` names is on this machine; ConfigError when it is malformed.

    Asks the parser that connecting uses: a second one could be told another host than the one connected to.
    """
    from coord.wire.url import Address

    address = Address(url)
    return address.scheme == "unix" or all(_is_local(host) for host, _ in address.hosts)


def _is_local(host: str) -> bool:
    numbers = host.split(".")
    loopback = len(numbers) == 4 and numbers[0] == "127" and all(n.isdigit() and n.isascii() for n in numbers)
    return loopback or host.lower() in ("localhost", "::1")
