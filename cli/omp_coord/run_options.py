"""The words of `omp-coord run`, read by hand: argparse costs 7 ms of a 20 ms start."""

from __future__ import annotations

from coord.errors import ConfigError

USAGE = (
    "omp-coord run [--lane L] [--time-limit 10m] [--wait 30m | --no-wait] [--label TEXT] [--owner ID] [--agent ID] "
    "[--config FILE] [--redis URL] [--scope NAME] [--strict] [--quiet] QUEUE -- COMMAND [ARG…]"
)

VALUES = ("lane", "time-limit", "wait", "label", "owner", "agent", "config", "redis", "scope")
FLAGS = ("no-wait", "strict", "quiet")


class RunOptions:
    """`wait` and `time_limit` in seconds, None: no limit; texts are None when not given."""

    __slots__ = (
        "agent", "argv", "config", "label", "lane", "owner", "queue", "quiet", "redis", "scope", "strict", "time_limit",
        "wait",
    )  # fmt: skip

    def __init__(self, words: list[str]) -> None:
        """Raises `ConfigError` with the line to type."""
        if "--" not in words:
            raise _usage_without_dashes(words)
        at = words.index("--")
        self.argv = words[at + 1 :]
        texts, flags, places = _read(words[:at])
        if len(places) != 1:
            raise ConfigError(f"name one queue before `--`, found {len(places)}; usage: {USAGE}")
        if not self.argv:
            raise ConfigError(f"there is no command after `--`; usage: {USAGE}")
        self.queue = places[0]
        self.lane = texts.get("lane")
        self.label, self.owner, self.agent = texts.get("label"), texts.get("owner"), texts.get("agent")
        self.config, self.redis, self.scope = texts.get("config"), texts.get("redis"), texts.get("scope")
        self.strict, self.quiet = "strict" in flags, "quiet" in flags
        if "no-wait" in flags and "wait" in texts:
            raise ConfigError("--wait and --no-wait exclude each other")
        self.wait = 0.0 if "no-wait" in flags else _seconds("--wait", texts.get("wait"))
        self.time_limit = _seconds("--time-limit", texts.get("time-limit"))
        if self.time_limit == 0:
            raise ConfigError("--time-limit 0 would end every command at once; leave it out for no limit")


def _read(words: list[str]) -> tuple[dict[str, str], set[str], list[str]]:
    texts: dict[str, str] = {}
    flags: set[str] = set()
    places: list[str] = []
    rest = iter(words)
    for word in rest:
        if not word.startswith("-") or word == "-":
            places.append(word)
            continue
        name, equals, value = word[2:].partition("=")
        if word.startswith("--") and name in VALUES:
            if not equals:
                value = next(rest, "")
                if not value:
                    raise ConfigError(f"{word} needs a value; usage: {USAGE}")
            texts[name] = value
        elif word.startswith("--") and name in FLAGS and not equals:
            flags.add(name)
        else:
            raise _unknown(word)
    return texts, flags, places


def _seconds(option: str, text: str | None) -> float | None:
    if text is None:
        return None
    from coord.names import duration

    try:
        return duration(text)
    except ConfigError as error:
        raise ConfigError(f"{option}: {error}") from None


def _unknown(word: str) -> ConfigError:
    from coord.names import clean, nearest

    near = nearest(word.partition("=")[0].lstrip("-"), (*VALUES, *FLAGS))
    hint = f"; did you mean --{near}?" if near else f"; usage: {USAGE}"
    return ConfigError(f"run has no option {clean(word)}{hint}")


def _usage_without_dashes(words: list[str]) -> ConfigError:
    """The line that was probably meant: the first word that is no option is the queue, the next begins the command."""
    from coord.names import clean, quote

    at, seen = 0, 0
    while at < len(words):
        if words[at].startswith("--"):
            name, equals, _ = words[at][2:].partition("=")
            at += 2 if name in VALUES and not equals else 1
            continue
        seen += 1
        if seen == 2:
            break
        at += 1
    if seen < 2:
        return ConfigError(f"run needs a queue and, after `--`, a command; usage: {USAGE}")
    line = " ".join(quote(word) for word in [*words[:at], "--", *words[at:]])
    return ConfigError(f"put `--` before the command: omp-coord run {clean(line)}")
