"""What answers at an address, and whether a board can live there (design 10, "Which server")."""

from __future__ import annotations

import os

import hiredis

from coord.errors import Unavailable
from coord.keys import Keys
from coord.server import talk
from coord.server.program import too_old
from coord.wire.link import ServerError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from coord.wire.url import Address


class Look:
    """What was seen. `reached`: something listens there. `problem`: why no board can live there (a clause
    that follows the server's name), None when one can. `evicts`: its eviction policy if that may drop keys.
    `owner`: uid of another user who made the board of this scope. `living`: how many hold a lease on it, None
    when it does not say."""

    __slots__ = ("evicts", "living", "owner", "problem", "reached")

    def __init__(self, problem: str | None = None, *, reached: bool = True) -> None:
        self.problem = problem
        self.reached = reached
        self.evicts: str | None = None
        self.owner: str | None = None
        self.living: int | None = None

    @property
    def unfit(self) -> str | None:
        """Why this server is not to be taken unasked; None when it may be."""
        if self.problem is not None:
            return self.problem
        if self.evicts:
            return f"may evict keys (maxmemory-policy {self.evicts})"
        return f"has a board of this scope that another user made (uid {self.owner})" if self.owner else None


def look(address: Address, scope: str, timeout: float) -> Look:
    """Looks at the server for at most `timeout` seconds; a few tens of microseconds when nothing listens.
    Never raises for what the server does or says. A user who may not ask INFO is no problem: what can't be
    known is taken as well."""
    keys = Keys(scope)
    words: list[tuple[str, ...]] = [("INFO",), ("HGET", keys.meta, "uid"), ("ZCARD", keys.leases)]
    try:
        answers = _ask(address, words, timeout)
    except talk.NotRedis:
        return Look("is not a Redis server")
    except ConnectionRefusedError:
        return Look("does not run: nothing listens there", reached=False)
    except TimeoutError:
        return Look("does not answer")
    except OSError as error:
        return Look(f"cannot be reached: {error.strerror or error}", reached=False)
    except Unavailable as error:
        text = str(error)  # it names the server, as the caller does
        return Look(f"cannot be reached: {text.partition(f'{address.shown}: ')[2] or text}", reached=False)
    return _judge(answers, address.plain)


def _ask(address: Address, words: list[tuple[str, ...]], timeout: float) -> list[object]:
    """The last answers to `words`; a refused login stands in their place."""
    if not address.plain:
        return _through_client(address, words, timeout)
    before: list[tuple[str, ...]] = []
    if address.password is not None:
        before.append(("AUTH", *([address.user] if address.user else []), address.password))
    if address.db:
        before.append(("SELECT", str(address.db)))
    answers = talk.ask(address.path or address.hosts[0], [*before, *words], timeout)
    failed = [answer for answer in answers[: len(before)] if isinstance(answer, hiredis.ReplyError)]
    answers = [failed[0]] * len(words) if failed else answers[len(before) :]
    if _code(answers[0]) == "NOPERM":
        version = talk.ask(address.path or address.hosts[0], [*before, ("HELLO", "2")], timeout)[-1]
        answers[0] = _as_info(version) or answers[0]
    return answers


def _through_client(address: Address, words: list[tuple[str, ...]], timeout: float) -> list[object]:
    from coord.wire import connect

    link = connect(address.url, timeout)
    answers: list[object] = []
    try:
        for command in words:
            try:
                answers.append(link.call(*command, timeout=timeout))
            except ServerError as error:
                answers.append(hiredis.ReplyError(str(error)))
    finally:
        link.close()
    return answers


def _judge(answers: list[object], plain: bool) -> Look:
    info, owner, living = answers
    problem = _refusal(info) or _refusal(owner) or _refusal(living)
    if problem:
        return Look(problem)
    values = _values(info)
    seen = Look(_unfit(values, plain))
    policy = values.get("maxmemory_policy", "noeviction")
    seen.evicts = policy if policy != "noeviction" else None
    seen.owner = owner if isinstance(owner, str) and owner != str(os.getuid()) else None
    seen.living = living if isinstance(living, int) else None
    return seen


def _values(info: object) -> dict[str, str]:
    if isinstance(info, dict):  # a client of a cluster answers per node
        first = next(iter(info.values()), "")
        return _values(first) if isinstance(first, dict) else {str(k): str(v) for k, v in info.items()}
    if not isinstance(info, str) or isinstance(info, hiredis.ReplyError):
        return {}
    return dict(line.split(":", 1) for line in info.splitlines() if ":" in line)


def _refusal(answer: object) -> str | None:
    """What an error reply means for a board; one that only says that INFO is not for this user means
    nothing."""
    if not isinstance(answer, hiredis.ReplyError):
        return None
    code, text = _code(answer), " ".join(str(answer).split())[:200]
    known = {
        "NOAUTH": "wants a password",
        "WRONGPASS": "refuses the user or password",
        "LOADING": "is still loading its data",
        "MOVED": "is a node of a cluster: name it with redis+cluster://",
        "CLUSTERDOWN": "is a node of a cluster that is down",
        "MASTERDOWN": "is a replica without its master",
        "DENIED": "refuses connections (protected mode)",
        "WRONGTYPE": "has something else under the keys of this scope",
    }
    if "invalid password" in text or "without any password" in text or "AUTH" in text.split()[:2]:
        return known["WRONGPASS"]
    if code == "NOPERM":
        return None
    return known.get(code, f"refuses: {text}")


def _unfit(values: dict[str, str], plain: bool) -> str | None:
    kind = "valkey" if "valkey_version" in values else "redis"
    problem = too_old(kind, values.get(f"{kind}_version", ""))
    if problem:
        return f"runs what cannot be used: {problem}"
    if plain and values.get("redis_mode") == "cluster":
        # Even one with all slots: the next node that joins would take keys away from it.
        return "is a node of a cluster: name it with redis+cluster://"
    if plain and values.get("role") == "slave":
        return "is a replica and can't be written: name its master, or redis+sentinel://"
    return None


def _code(answer: object) -> str:
    return str(answer).split(" ", 1)[0] if isinstance(answer, hiredis.ReplyError) else ""


def _as_info(hello: object) -> str | None:
    """The answer to HELLO 2 in the words of INFO."""
    if not isinstance(hello, list):
        return None
    pairs = dict(zip(map(str, hello[::2]), hello[1::2], strict=False))
    kind = "valkey" if pairs.get("server") == "valkey" else "redis"
    role = "slave" if pairs.get("role") == "replica" else "master"
    return f"{kind}_version:{pairs.get('version', '')}\nrole:{role}\nredis_mode:{pairs.get('mode', '')}"
