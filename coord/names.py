"""Words that travel: names, durations, and text made safe for the board, for a terminal and for storage.

On the runner's path, so nothing heavier than string methods is imported here; what needs `re` or `difflib`
imports it in a branch that a plain `omp-coord run` does not reach.
"""

from __future__ import annotations

from coord.errors import ConfigError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

NAME_LIMIT = 64
COMMAND_LIMIT = 200
LONGEST_SECONDS = 10 * 366 * 86_400
"""Ten years: longer durations are typing errors, and milliseconds stay exact integers everywhere."""

HINTS = ("token", "secret", "passw", "key", "auth")
"""Whoever has one of these in its name has a value that is not stored."""

_MARKS = (*HINTS, "bearer", "basic")
_SHELL = " \t\r\n'\"$;&|<>()`\\"
_READ_AT_MOST = 4_000
_UNITS = (("h", 3600.0), ("m", 60.0), ("s", 1.0), ("ms", 0.001))


def is_name(text: str) -> bool:
    """Whether `text` is 1 to 64 ASCII letters, digits, `.`, `_` or `-`."""
    bare = text.replace(".", "").replace("_", "").replace("-", "")
    return 0 < len(text) <= NAME_LIMIT and text.isascii() and (not bare or bare.isalnum())


def check_name(kind: str, text: str) -> str:
    """Return `text`, or raise ConfigError naming the `kind` ("queue", "lane") and what is allowed."""
    if is_name(text):
        return text
    shown = clean(text[: NAME_LIMIT + 1])
    raise ConfigError(
        f'The {kind} "{shown}" is not a name: allowed are 1 to {NAME_LIMIT} ASCII letters, digits, ".", "_" and "-".'
    )


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The one of `known` that `word` most likely meant, or None when nothing is near."""
    import difflib

    by_lower = {name.lower(): name for name in known}
    found = difflib.get_close_matches(word.lower(), list(by_lower), n=1, cutoff=0.6)
    return by_lower[found[0]] if found else None


def encode(text: str) -> str:
    """Percent-encode `%`, `|` and control characters (UTF-8 bytes): `text` as one field of a member."""
    if text.isalnum() and text.isascii():
        return text
    return "".join(_percent(char) if char in "%|" or _is_control(char) else char for char in _whole(text))


def _percent(char: str) -> str:
    return "".join(f"%{byte:02X}" for byte in char.encode())


def _is_control(char: str) -> bool:
    return char < " " or "\x7f" <= char <= "\x9f"


def _whole(text: str) -> str:
    """Text that can be written as UTF-8: bytes of file names that were no UTF-8 arrive as lone surrogates."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def clean(text: str) -> str:
    """`text` as one harmless line: no escape sequences, control or direction characters; emoji stay."""
    if text.isprintable():
        return text
    if "\x1b" in text or "\x9b" in text:
        import re

        text = re.sub(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b.?", "", text)
    return "".join(_harmless(char) for char in _whole(text))


def _harmless(char: str) -> str:
    if char in "\t\r\n\v\f\u2028\u2029\x85":
        return " "
    # Direction marks and overrides let a text show otherwise than it reads; joiners belong to emoji and stay.
    turning = "\u202a" <= char <= "\u202e" or "\u2066" <= char <= "\u2069" or char in "\u200e\u200f\u061c\ufeff"
    return "" if turning or _is_control(char) else char


def redact(command: str | Sequence[str], limit: int = COMMAND_LIMIT) -> str:
    """`command` (a shell text, or an argv) as it may be stored: secrets as `***`, at most `limit` characters.

    Redacted are values of `NAME=value` prefixes, of options and variables whose name contains one of HINTS,
    what follows `Bearer` and `Basic`, and passwords in URLs, also inside quoted text such as `bash -c '…'`.
    """
    words = [command] if isinstance(command, str) else list(command)
    # A text is read no further than this: it keeps a pasted script of megabytes from costing a second.
    words = [_whole(word[:_READ_AT_MOST]) for word in words[:_READ_AT_MOST]]
    if _suspicious(words):
        from coord.redaction import redact_argv, redact_text

        text = redact_text(words[0]) if isinstance(command, str) else redact_argv(words)
    else:
        text = words[0] if isinstance(command, str) else " ".join(map(quote, words))
    return text if len(text) <= limit else text[: max(limit - 1, 0)] + "…"


def _suspicious(words: list[str]) -> bool:
    text = "\n".join(words).lower()
    if any(mark in text for mark in _MARKS) or ("://" in text and "@" in text):
        return True
    return "=" in text and any("=" in word and _may_assign(word) for word in words)


def _may_assign(word: str) -> bool:
    """Whether a word with `=` may hold an assignment: `A=b` or a text of words, unlike `--flag=x`."""
    return word.partition("=")[0].rstrip("+").isidentifier() or any(char in word for char in _SHELL + "[")


def quote(word: str) -> str:
    """`word` as a shell reads it back, but for a bare `*`: this is for people to read, not to run."""
    if word and not any(char in word for char in _SHELL):
        return word
    return "'" + word.replace("'", "'\\''") + "'"


def duration(text: str) -> float:
    """Seconds meant by `500ms`, `90s`, `10m`, `1h30m` or a bare number; ConfigError for all else."""
    if text.startswith("-"):
        raise ConfigError(f'The duration "{clean(text[:40])}" is negative: use for example 90s, 10m or 1h30m.')
    seconds = _seconds(text)
    if seconds is None:
        raise ConfigError(f'"{clean(text[:40])}" is not a duration: use for example 500ms, 90s, 10m, 1h30m or 45.')
    if seconds > LONGEST_SECONDS:
        raise ConfigError(f'The duration "{clean(text[:40])}" is too long: ten years is the most.')
    return seconds


def _seconds(text: str) -> float | None:
    if _is_number(text):
        return float(text)
    total, rest, units = 0.0, text, list(_UNITS)
    while rest:
        number = _leading_number(rest)
        rest = rest[len(number) :]
        # Each unit at most once and the larger first; "ms" stands behind "m", so it is looked for before it.
        unit = next(
            (u for u in reversed(units) if rest.startswith(u[0]) and not rest[len(u[0]) :][:1].isalpha()),
            None,
        )
        if unit is None or not _is_number(number):
            return None
        units = units[units.index(unit) + 1 :]
        rest = rest[len(unit[0]) :]
        total += float(number) * unit[1]
    return total if text else None


def _leading_number(text: str) -> str:
    end = 0
    while end < len(text) and (text[end] in "0123456789."):
        end += 1
    return text[:end]


def _is_number(text: str) -> bool:
    whole, _, part = text.partition(".")
    digits = whole + part
    return bool(whole) and digits.isascii() and digits.isdigit() and not text.endswith(".")
