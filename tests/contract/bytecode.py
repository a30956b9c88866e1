"""Which globals a Lua 5.1 text reads and writes, out of its compiled form."""

from __future__ import annotations

import struct
from typing import Any

from lupa import lua51  # type: ignore[import-untyped]

GETGLOBAL, SETGLOBAL = 5, 7


def globals_of(text: str) -> tuple[set[str], set[str]]:
    """Names of the globals that are read, and of those that are written. Raises on a syntax error, with its line."""
    lua = lua51.LuaRuntime(encoding=None)
    dump: Any = lua.eval(b"function(text) return string.dump(assert(loadstring(text, '=script'))) end")
    reader = _Reader(dump(text.encode()))
    reader.take(12)
    reader.function()
    return reader.read, reader.written


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0
        self.read: set[str] = set()
        self.written: set[str] = set()

    def take(self, size: int) -> bytes:
        self._at += size
        return self._data[self._at - size : self._at]

    def function(self) -> None:
        """source, lines, four bytes of sizes, code, constants, inner functions, debug information."""
        self._string()
        self.take(2 * 4 + 4)
        code = [self._number("<I", 4) for _ in range(self._int())]
        constants = [self._constant() for _ in range(self._int())]
        for instruction in code:
            found = {GETGLOBAL: self.read, SETGLOBAL: self.written}.get(instruction & 0x3F)
            if found is not None:
                found.add(str(constants[instruction >> 14]))
        for _ in range(self._int()):
            self.function()
        self.take(4 * self._int())
        for _ in range(self._int()):
            self._string()
            self.take(8)
        for _ in range(self._int()):
            self._string()

    def _constant(self) -> object:
        kind = self.take(1)[0]
        if kind == 1:
            return self.take(1)
        if kind == 3:
            return self.take(8)
        return self._string() if kind == 4 else None

    def _string(self) -> str:
        return self.take(self._number("<Q", 8))[:-1].decode("utf-8", "replace")

    def _int(self) -> int:
        return self._number("<i", 4)

    def _number(self, form: str, size: int) -> int:
        return int(struct.unpack(form, self.take(size))[0])
