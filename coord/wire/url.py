"""Server addresses: `redis://`, `rediss://`, `unix://`, `redis+sentinel://`, `redis+cluster://`."""

from __future__ import annotations

from coord.errors import ConfigError

FORMS = (
    "redis://[user:password@]host[:port][/db], rediss://…, unix:///path[?db=n], "
    "redis+sentinel://host:port,host:port/service, redis+cluster://host:port,…"
)


class Address:
    """A parsed URL. `hosts` is a list of (host, port); `path` a unix socket; `service` a Sentinel master's name."""

    __slots__ = ("db", "hosts", "password", "path", "scheme", "service", "url", "user")

    def __init__(self, url: str) -> None:
        self.url = url
        self.hosts: list[tuple[str, int]] = []
        self.path = self.service = ""
        self.db = 0
        self.user: str | None = None
        self.password: str | None = None
        self.scheme, mark, rest = url.partition("://")
        if not mark or self.scheme not in ("redis", "rediss", "unix", "redis+sentinel", "redis+cluster"):
            raise _bad(url)
        secret, mark, rest = rest.rpartition("@")
        rest, _, query = rest.partition("?")
        self._query(query)
        if mark:
            user, colon, password = secret.partition(":")
            user, password = (user, password) if colon else ("", user)
            self.user, self.password = _unquote(user) or None, _unquote(password) or None
        if self.scheme == "unix":
            self.path = _unquote(rest)
            if not self.path.startswith("/") or "\0" in self.path:
                raise _bad(url)
        else:
            self._network(rest)

    def _query(self, query: str) -> None:
        for part in query.split("&") if query else ():
            name, _, value = part.partition("=")
            if name != "db":
                raise _bad(self.url)
            self.db = self._number(value, 1 << 20)

    def _network(self, rest: str) -> None:
        where, _, tail = rest.partition("/")
        for item in where.split(","):
            self.hosts.append(self._host(item))
        if self.scheme == "redis+sentinel":
            self.service = tail
        elif tail:
            self.db = self._number(tail, 1 << 20)
        if (self.scheme == "redis+sentinel") != bool(self.service) or "/" in self.service:
            raise _bad(self.url)
        if self.scheme == "redis+cluster" and (tail or self.db):  # a cluster has one database
            raise _bad(self.url)
        if self.scheme in ("redis", "rediss") and len(self.hosts) > 1:
            raise _bad(self.url)

    def _host(self, item: str) -> tuple[str, int]:
        if item.startswith("["):
            host, bracket, port = item[1:].partition("]")
            fits = bool(bracket) and _is_ipv6(host) and port[:1] in ("", ":")
            port = port[1:]
        elif item.count(":") > 1:
            host, port, fits = item, "", _is_ipv6(item)
        else:
            host, _, port = item.partition(":")
            fits = bool(host) and host.isprintable() and not set(host) & set(" #[]\\")
        number = self._number(port, 65535) if port else 26379 if self.scheme == "redis+sentinel" else 6379
        if not fits or not number:
            raise _bad(self.url)
        return host, number

    def _number(self, text: str, highest: int) -> int:
        if not (text.isascii() and text.isdigit()) or int(text) > highest:
            raise _bad(self.url)
        return int(text)

    @property
    def plain(self) -> bool:
        """One server without TLS: spoken to directly, and its PUBLISH counts every listener."""
        return self.scheme in ("redis", "unix")

    @property
    def shown(self) -> str:
        """The URL without its password, for people."""
        return hide_password(self.url)


def hide_password(url: str) -> str:
    """The URL with any user and password left out and on one line, also when it is no proper one."""
    scheme, mark, rest = url.partition("://") if "://" in url else ("", "", url)
    where, question, query = rest.rpartition("@")[2].partition("?")
    shown = scheme + mark + where + question + (query if query.startswith("db=") else "…" if query else "")
    return shown if shown.isprintable() else "".join(c if c.isprintable() else "?" for c in shown)


def _is_ipv6(host: str) -> bool:
    address = host.partition("%")[0]  # behind it stands the interface
    return ":" in address and set(address) <= set("0123456789abcdefABCDEF:.") and host.isprintable()


def _bad(url: str) -> ConfigError:
    return ConfigError(f"not a server URL: {hide_password(url)!r}; use one of {FORMS}")


def _unquote(text: str) -> str:
    if "%" not in text:
        return text
    from urllib.parse import unquote

    return unquote(text)
