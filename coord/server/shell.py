"""What `omp-coord server cli` needs: redis-cli with the right arguments, or a small one of our own in its
place."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping

from coord.keys import Keys
from coord.names import clean
from coord.wire import connect
from coord.wire.link import ServerError
from coord.wire.url import Address


def redis_cli(url: str) -> tuple[list[str], dict[str, str]] | None:
    """The arguments with which redis-cli reaches `url`, and what its environment needs (a password has no
    place among arguments, where every user can read it); None for Sentinel, which it does not follow."""
    address = Address(url)
    if address.scheme == "redis+sentinel":
        return None
    words = ["-s", address.path] if address.path else ["-h", address.hosts[0][0], "-p", str(address.hosts[0][1])]
    if address.scheme == "redis+cluster":
        words.append("-c")
    if address.scheme == "rediss":
        words.append("--tls")
    if address.user:
        words += ["--user", address.user]
    if address.db:
        words += ["-n", str(address.db)]
    return words, {"REDISCLI_AUTH": address.password} if address.password is not None else {}


def program(env: Mapping[str, str]) -> str | None:
    """Where redis-cli (or valkey-cli) is, None when it is not installed."""
    from shutil import which

    return which("redis-cli", path=env.get("PATH")) or which("valkey-cli", path=env.get("PATH"))


class Shell:
    """A connection that takes commands as words and gives answers as redis-cli prints them."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._link = connect(url)

    def run(self, words: list[str], *, raw: bool = False) -> tuple[str, bool]:
        """The printed answer and whether it is none of an error. Raises Unavailable when the connection is
        lost."""
        try:
            answer = self._link.call(*words, timeout=3600.0)
        except ServerError as error:
            return ("" if raw else "(error) ") + clean(str(error)), False
        return (plain(answer) if raw else formatted(answer)), True

    def loop(self, lines: Iterable[str], say: Callable[[str], None], *, raw: bool = False) -> bool:
        """Runs a command per line until the lines end or one says `quit`; whether all went well."""
        fine = True
        for line in lines:
            try:
                words = shlex.split(line)
            except ValueError:
                say("Invalid argument(s)")
                fine = False
                continue
            if words and words[0].lower() in ("quit", "exit"):
                break
            if words:
                text, good = self.run(words, raw=raw)
                say(text)
                fine = fine and good
        return fine

    def close(self) -> None:
        self._link.close()


def formatted(answer: object, indent: str = "") -> str:
    """An answer as redis-cli shows it on a terminal."""
    items = _items(answer)
    if items is None:
        return _scalar(answer)
    if not items:
        return "(empty array)"
    width = len(str(len(items)))
    lines = []
    for number, item in enumerate(items, 1):
        head = f"{number:>{width}}) "
        lines.append(("" if number == 1 else indent) + head + formatted(item, indent + " " * len(head)))
    return "\n".join(lines)


def _scalar(answer: object) -> str:
    if answer is None:
        return "(nil)"
    if isinstance(answer, bool):
        return "(true)" if answer else "(false)"
    if isinstance(answer, int):
        return f"(integer) {answer}"
    if isinstance(answer, Exception):
        return f"(error) {clean(str(answer))}"
    return str(answer) if answer in ("OK", "PONG", "QUEUED") else _quoted(str(answer))


def plain(answer: object) -> str:
    """An answer as redis-cli prints it into a pipe: values alone, one per line."""
    if isinstance(answer, bool):
        return str(int(answer))
    items = _items(answer)
    if items is not None:
        return "\n".join(plain(item) for item in items)
    return "" if answer is None else str(answer)


def _items(answer: object) -> list[object] | None:
    """The elements of an answer that has some; a map is its names and values in turn."""
    if isinstance(answer, dict):
        return [part for pair in answer.items() for part in pair]
    return list(answer) if isinstance(answer, (list, tuple, set, frozenset)) else None


def _quoted(text: str) -> str:
    escapes = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    return '"' + "".join(escapes.get(c) or (c if c.isprintable() else _escaped(c)) for c in text) + '"'


def _escaped(char: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in char.encode("utf-8", "surrogatepass"))


READ_AS = {
    "META": "hash",
    "POLICIES": "hash",
    "POLICY_USE": "lexical",
    "LIMITS": "hash",
    "LOADS": "hash",
    "SESSIONS": "hash",
    "LEASES": "scored",
    "DEADLINES": "scored",
    "JOBS": "hash",
    "WAITING": "lexical",
    "RUNNING": "lexical",
    "TURNS": "lexical",
    "SERVED": "scored",
    "NEST": "lexical",
    "ENDED": "hash",
    "ENDED_AT": "scored",
    "EVENTS": "stream",
    "LABELS": "hash",
    "SLOTS": "hash",
    "SEATS": "lexical",
    "LINE": "lexical",
    "HOLDS": "lexical",
    "PAUSE": "hash",
}
"""How each key of `coord.keys` is read (a test knows when one is missing)."""

_WORDS = {
    "hash": ("HGETALL", ()),
    "scored": ("ZRANGE", ("0", "-1", "WITHSCORES")),
    "lexical": ("ZRANGE", ("0", "-1")),
    "stream": ("XREVRANGE", ("+", "-", "COUNT", "20")),
}


def key_lines(url: str, scope: str) -> list[str]:
    """A ready, quoted redis-cli line for each key of a scope's board at `url`; none when redis-cli can't get
    there."""
    reached = redis_cli(url)
    if reached is None:
        return []
    words, secret = reached
    start = ["redis-cli", *words, *(["--askpass"] if secret else [])]
    keys = Keys(scope)
    lines = []
    for name, kind in READ_AS.items():
        verb, rest = _WORDS[kind]
        lines.append(shlex.join([*start, verb, keys[name], *rest]))
    return lines
