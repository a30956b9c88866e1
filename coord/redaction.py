"""What of a command may be stored: the thorough half of `coord.names.redact`, entered only with a reason to.

A command is read as a shell reads it: words, quotes, operators. Each word is judged by what it is (an
assignment in front of a command, an option, a value after one), and a quoted word that holds a command of
its own is read the same way. It errs on the side of hiding: a word too many behind `***` is a nuisance, a
word too few is a leak.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from coord.names import HINTS, quote

HIDDEN = "***"
_DEPTH = 8
_BETWEEN = " \t\r\n;&|()`<>"

_HINT = "|".join(HINTS)
_NAME = rf"[\w.-]*(?:{_HINT})[\w.-]*"
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*(?:\[[^]]*\])?\+?=)(.*)", re.S | re.A)
_NAMED = re.compile(rf"({_NAME}=)(.+)", re.S | re.I)
_HEADER = re.compile(rf"((?:{_NAME}-[\w-]*|[\w-]*-{_NAME}|authorization):\s*)([^\s:].*)", re.S | re.I)
_NAME_ENDS = re.compile(rf"{_NAME}[\"']?[=:]$", re.I)
_OPTION = re.compile(rf"-[^\s=:]*(?:{_HINT})[^\s=:]*", re.I)
_SCHEME = re.compile(r"(?:[\"'(]|.*[:=])?(?:bearer|basic)\b", re.I | re.S)
_RUNS_TEXT = re.compile(r"-[a-zA-Z]*c")

_QUOTED_VALUE = re.compile(rf"""({_NAME}["']?\s*[=:]\s*)(?:"(?:\\.|[^"\\])*"?|'[^']*'?)""", re.I | re.S)
_JSON_VALUE = re.compile(rf"""({_NAME}["']\s*:\s*)[^\s"',}}\]]+""", re.I)
_PLAIN_VALUE = re.compile(rf"""({_NAME}=["']?)[^\s&"'|)}}]+""", re.I)
_AFTER_SCHEME = re.compile(r"\b((?:bearer|basic)(?:[\s:=+]|%20)+)[^\s\"']+", re.I)
# A port is no password: `http://host:8080/@scope/package`.
_URL_PASSWORD = re.compile(r"(://[^\s/@:'\"\[]*:)(?!\d+(?:[/?#]|$))[^\s'\"]*@")
_URL_TOKEN = re.compile(r"((?:http|redis)s?://)[^\s/@:'\"]+@", re.I)

# After these a simple command still has its assignments to come.
_STARTERS = frozenset(("!", "{", "if", "then", "elif", "else", "do", "while", "until", "time", "command", "eval"))
_WRAPPERS = frozenset(("env", "sudo", "doas"))
_DECLARERS = frozenset(("export", "declare", "typeset", "readonly", "local"))


class _Word(NamedTuple):
    raw: str
    """As written, quotes and all."""
    value: str
    """As the command would get it."""
    operator: bool = False


class _State:
    """Where in a simple command the reader is, and whether the next word is somebody's secret."""

    __slots__ = ("after_option", "mode", "secret_next", "text_next")

    def __init__(self) -> None:
        self.mode = "prefix"
        self.secret_next = False
        self.text_next = False
        self.after_option = False


def redact_argv(words: list[str]) -> str:
    """One line for an argv, its secrets hidden, each word quoted when a shell would need it."""
    state = _State()
    return " ".join(quote(_redact_word(state, word, word, 0)) for word in words)


def redact_text(text: str, depth: int = 0) -> str:
    """A shell text with its secrets hidden; what is not hidden stays exactly as written."""
    if depth > _DEPTH:
        return HIDDEN
    # Before the quotes are taken off, for they alone say where such a value ends.
    text = _JSON_VALUE.sub(rf"\1{HIDDEN}", _QUOTED_VALUE.sub(rf"\1{HIDDEN}", text))
    state = _State()
    parts: list[str] = []
    for word in _split(text):
        if word.operator:
            # A redirection goes on with the same command; every other operator starts a new one.
            if word.raw.strip(" \t<>"):
                state = _State()
            parts.append(word.raw)
            continue
        new = _redact_word(state, word.value, word.raw, depth)
        parts.append(word.raw if new == word.value else quote(new))
    return "".join(parts)


def _redact_word(state: _State, value: str, raw: str, depth: int) -> str:
    is_text, hidden = state.text_next, _hidden(state, value)
    _move_on(state, value)
    if hidden is not None:
        return hidden
    # Only a word that lost quotes, or came whole in an argv, can hold words of its own.
    holds_words = (depth == 0 or raw != value) and any(char in value for char in " \t\r\n'\";|()`")
    return redact_text(value, depth + 1) if is_text or holds_words else _scrub(value)


def _hidden(state: _State, value: str) -> str | None:
    """What to store for a word that is secret for where it stands or what it is called, else None."""
    if state.secret_next and not _SCHEME.fullmatch(value) and not value.startswith("-"):
        return value if value.strip("{[,]}") == HIDDEN else HIDDEN
    assignment = _ASSIGNMENT.fullmatch(value)
    if assignment and state.mode != "arguments":
        return assignment[1] + (HIDDEN if assignment[2] else "")
    named = _NAMED.fullmatch(value) or _HEADER.fullmatch(value)
    if named and not _SCHEME.match(named[2]):
        return named[1] + HIDDEN
    return None


def _move_on(state: _State, value: str) -> None:
    state.secret_next = any((_SCHEME.fullmatch(value), _OPTION.fullmatch(value), _NAME_ENDS.search(value)))
    state.text_next = bool(_RUNS_TEXT.fullmatch(value))
    state.mode = _next_mode(state, value)
    state.after_option = value.startswith("-")


def _next_mode(state: _State, value: str) -> str:
    program = value.rpartition("/")[2]
    if state.mode in ("arguments", "declare") or _ASSIGNMENT.fullmatch(value):
        return state.mode
    if state.mode == "wrapper" and (value.startswith("-") or state.after_option):
        # `env -u NAME A=b cmd`: the word after an option may be its argument, assignments may still follow.
        return "wrapper"
    if program in _DECLARERS:
        return "declare"
    if program in _WRAPPERS:
        return "wrapper"
    return state.mode if program in _STARTERS else "arguments"


def _scrub(value: str) -> str:
    value = _URL_PASSWORD.sub(rf"\1{HIDDEN}@", value)
    value = _URL_TOKEN.sub(rf"\1{HIDDEN}@", value)
    value = _AFTER_SCHEME.sub(rf"\1{HIDDEN}", value)
    return _PLAIN_VALUE.sub(rf"\1{HIDDEN}", value)


def _split(text: str) -> Iterator[_Word]:
    """The words and, between them, blanks and operators of a shell text; an open quote runs to the end."""
    at = 0
    while at < len(text):
        end = at
        while end < len(text) and text[end] in _BETWEEN:
            end += 1
        if end > at:
            yield _Word(text[at:end], "", operator=True)
        else:
            end, value = _read_word(text, at)
            yield _Word(text[at:end], value)
        at = end


def _read_word(text: str, start: int) -> tuple[int, str]:
    at, value = start, []
    while at < len(text) and text[at] not in _BETWEEN:
        if text[at] == "'":
            end = _find(text, "'", at + 1)
            value.append(text[at + 1 : end])
            at = end + 1
        elif text[at] == '"':
            at, inner = _read_double(text, at + 1)
            value.append(inner)
        elif text[at] == "\\":
            value.append(text[at + 1 : at + 2])
            at += 2
        elif text.startswith("$(", at) and _ASSIGNMENT.fullmatch("".join(value)):
            at, inner = _read_substitution(text, at)
            value.append(inner)
        else:
            value.append(text[at])
            at += 1
    return min(at, len(text)), "".join(value)


def _find(text: str, char: str, start: int) -> int:
    found = text.find(char, start)
    return len(text) if found < 0 else found


def _read_double(text: str, at: int) -> tuple[int, str]:
    value = []
    while at < len(text) and text[at] != '"':
        if text[at] == "\\" and text[at + 1 : at + 2] in ('"', "\\", "$", "`"):
            at += 1
        value.append(text[at])
        at += 1
    return at + 1, "".join(value)


def _read_substitution(text: str, start: int) -> tuple[int, str]:
    """`A=$(cmd x)` is one word: its whole value is hidden, so only its end matters."""
    depth, at = 0, start + 1
    while at < len(text):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
        if depth == 0:
            break
    return at, text[start:at]
