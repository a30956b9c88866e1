"""JSON as people write it: comments and trailing commas, and every value knows its line and column.

Stricter than JSON where a file would mislead: a key given twice is an error, so is what UTF-8 cannot hold.
"""

from __future__ import annotations

import json
import re
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any

from coord.names import clean

DEPTH = 32

_BLANKS = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)*", re.S)
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,30})(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,3})?(?![0-9.\w])")
_WORD = re.compile(r"[^\s,:{}\[\]\"/]{1,20}")
_WORDS = {"true": True, "false": False, "null": None}

_STRING_FAULTS = {
    "Invalid control character at": "a line end or other control character in a text: write \\n or \\u00xx",
    "Unterminated string starting at": "this text never ends: close it with a double quote",
    "Invalid \\escape": "an unknown escape: write a backslash as \\\\",
    "Invalid \\uXXXX escape": "after \\u belong four hex digits",
}

Path = tuple[str | int, ...]


class JsonError(Exception):
    """The text is no such JSON; `line` and `column` count from 1, in characters."""

    def __init__(self, text: str, line: int, column: int) -> None:
        super().__init__(text)
        self.line = line
        self.column = column


class Document:
    """A parsed text: its `value`, where each value and key stands, and the keys that were given twice."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.value: Any = None
        self.values: dict[Path, int] = {}
        self.keys: dict[Path, int] = {}
        self.duplicates: list[tuple[Path, int]] = []

    def place(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        """Line and column of the value (or the key) at `path`, or of the nearest thing around it."""
        while path not in self.values and path:
            path = path[:-1]
        return self.where(self.keys[path] if key and path in self.keys else self.values.get(path, 0))

    def where(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset into the text."""
        return self.text.count("\n", 0, offset) + 1, offset - self.text.rfind("\n", 0, offset)


def decode(content: bytes) -> str:
    """The text of a file: UTF-8, a byte order mark skipped; JsonError at the first byte that is not UTF-8."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        good = content[: error.start].decode("utf-8", "ignore").removeprefix("\ufeff")
        line, column = Document(good).where(len(good))
        found = f"the byte 0x{content[error.start]:02x} is not UTF-8"
        raise JsonError(f"{found}: save the file as UTF-8.", line, column) from None


def parse(text: str) -> Document:
    """Read a whole text; JsonError at the first place that cannot be understood."""
    document = Document(text)
    reader = _Reader(document)
    document.value, at = reader.value(reader.blanks(0), ())
    at = reader.blanks(at)
    if at < len(text):
        raise reader.error(at, f"found {reader.shown(at)} behind the end: remove it")
    return document


class _Reader:
    def __init__(self, document: Document) -> None:
        self.document = document
        self.text = document.text

    def error(self, at: int, text: str) -> JsonError:
        return JsonError(f"{text}.", *self.document.where(at))

    def shown(self, at: int) -> str:
        """What stands at `at`, for an error text."""
        if at >= len(self.text):
            return "the end of the file"
        if self.text[at] == '"':
            return "a text"
        word = _WORD.match(self.text, at)
        return f'"{clean(word[0] if word else self.text[at])}"'

    def blanks(self, at: int) -> int:
        """The next place that is neither blank nor comment."""
        match = _BLANKS.match(self.text, at)
        at = match.end() if match else at
        if self.text.startswith("/*", at):
            raise self.error(at, 'this comment never ends: close it with "*/"')
        return at

    def value(self, at: int, path: Path) -> tuple[Any, int]:
        self.document.values[path] = at
        if len(path) > DEPTH:
            raise self.error(at, f"nested deeper than {DEPTH} levels: a configuration never is")
        char = self.text[at : at + 1]
        if char == "{":
            return self.object(at + 1, path)
        if char == "[":
            return self.array(at + 1, path)
        if char == '"':
            return self.string(at)
        return self.scalar(at)

    def scalar(self, at: int) -> tuple[Any, int]:
        number = _NUMBER.match(self.text, at)
        if number:
            value = json.loads(number[0])
            if value in (float("inf"), float("-inf")):
                raise self.error(at, f'the number "{number[0]}" is too large')
            return value, number.end()
        word = _WORD.match(self.text, at)
        if word and word[0] in _WORDS:
            return _WORDS[word[0]], word.end()
        allowed = 'an object, a list, a text in double quotes, a number, "true", "false" or "null"'
        raise self.error(at, f"found {self.shown(at)} where a value belongs: {allowed}")

    def string(self, at: int) -> tuple[str, int]:
        try:
            value, end = scanstring(self.text, at + 1, True)
        except json.JSONDecodeError as error:
            raise self.error(error.pos, _STRING_FAULTS.get(error.msg, error.msg)) from None
        if not value.isascii() and any("\ud800" <= char <= "\udfff" for char in value):
            raise self.error(at, "half of a surrogate pair stands alone in this text: write the character itself")
        return value, end

    def object(self, at: int, path: Path) -> tuple[dict[str, Any], int]:
        value: dict[str, Any] = {}
        while True:
            at = self.blanks(at)
            if self.text.startswith("}", at):
                return value, at + 1
            if not self.text.startswith('"', at):
                raise self.error(at, f'found {self.shown(at)}: allowed are a key in double quotes or "}}"')
            start, (key, at) = at, self.string(at)
            if key in value:
                self.document.duplicates.append(((*path, key), start))
            at = self.blanks(at)
            if not self.text.startswith(":", at):
                raise self.error(at, f'found {self.shown(at)} where ":" belongs')
            self.document.keys[(*path, key)] = start
            value[key], at = self.value(self.blanks(at + 1), (*path, key))
            at = self.comma(at, "}")

    def array(self, at: int, path: Path) -> tuple[list[Any], int]:
        value: list[Any] = []
        while True:
            at = self.blanks(at)
            if self.text.startswith("]", at):
                return value, at + 1
            item, at = self.value(at, (*path, len(value)))
            value.append(item)
            at = self.comma(at, "]")

    def comma(self, at: int, close: str) -> int:
        """Past the comma behind a value, or at the bracket that closes what it stands in."""
        at = self.blanks(at)
        if self.text.startswith(",", at):
            return at + 1
        if not self.text.startswith(close, at):
            raise self.error(at, f'found {self.shown(at)}: allowed are "," or "{close}"')
        return at
