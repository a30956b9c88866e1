"""Loads the board's scripts from `lua/`: includes, and the names by which KEYS and ARGV are bound.

A script names its keys and arguments once, at its top (`local A, B = unpack(KEYS)`, `local x, y = unpack(ARGV)`);
Python binds by those names, so order cannot drift and a wrong or missing argument is a `TypeError`. Includes are comments,
`-- @include lib/name`, each file taken in once per block, in the order in which it is first needed. An indented include
belongs to its block: Lua makes its functions only when that block runs, so what is seldom needed costs the usual call
nothing.
"""

from __future__ import annotations

import marshal
import os
from _sha1 import sha1

from coord.errors import Unavailable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from coord.keys import Keys

_HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(_HERE, "lua")
"""Where the scripts lie: inside the package when installed, beside it in a checkout."""
if not os.path.isdir(FOLDER):
    FOLDER = os.path.join(os.path.dirname(_HERE), "lua")


class ScriptError(Exception):
    """A script cannot be loaded; the text names file and line."""


class Script:
    """One script, ready to be called. `keys` and `args` are the names it declares, in order."""

    __slots__ = ("_text", "args", "keys", "name", "sha")

    def __init__(self, name: str, text: str | None, facts: tuple[str, list[str], list[str]] | None = None) -> None:
        self.name = name
        self._text = text
        if facts is None:
            facts = sha1(self.text.encode()).hexdigest(), self._declared("KEYS"), self._declared("ARGV")
        self.sha, self.keys, self.args = facts

    def bind(self, keys: Keys, values: Mapping[str, object]) -> list[object]:
        """The words behind the SHA of an EVALSHA: key count, keys, arguments. TypeError names a missing argument."""
        try:
            return [*keys.counted(self.name, self.keys), *[values[name] for name in self.args]]
        except KeyError as missing:
            raise TypeError(f"{self.name}.lua needs the argument {missing}") from None

    @property
    def text(self) -> str:
        """The whole script; put together only when a server does not have it yet. `Unavailable` when the files have
        become another version's meanwhile, which may want other arguments."""
        if self._text is None:
            try:
                now = load(self.name)
            except OSError:
                now = None
            if now is None or now.sha != self.sha:
                raise Unavailable("omp-coord was changed on disk since this process began; start it again")
            self._text = now.text
        return self._text

    def _declared(self, table: str) -> list[str]:
        end = self.text.find(f" = unpack({table})")
        if end < 0:
            return []
        start = self.text.rfind("local ", 0, end)
        if start < 0:
            raise ScriptError(f"{self.name}.lua: unpack({table}) names nothing")
        return [word.strip() for word in self.text[start + 6 : end].split(",")]


def remembered(folder: str) -> dict[str, Script]:
    """All scripts without putting them together (20 ms of work): their SHA, keys and arguments are kept in `folder` for
    as long as no file of `lua/` changes. A folder that cannot be written costs that time again, nothing else."""
    path, mark = os.path.join(folder, "scripts"), _mark()
    try:
        with open(path, "rb") as file:
            known = marshal.loads(file.read())  # noqa: S302 - the folder is this user's own, 0700
        if known[0] == mark:
            return {name: Script(name, None, facts) for name, facts in known[1].items()}
    except (OSError, ValueError, EOFError, TypeError, LookupError, AttributeError):
        pass  # missing, broken or of another Python: made anew below
    scripts = {name: load(name) for name in names()}
    try:
        from coord.private import write

        facts = {name: (script.sha, script.keys, script.args) for name, script in scripts.items()}
        write(path, marshal.dumps((mark, facts)))
    except OSError:
        pass
    return scripts


def _mark() -> list[object]:
    """What changes when a script does: the folder, and size and time of every file in it."""
    mark: list[object] = [FOLDER]
    for folder in (FOLDER, os.path.join(FOLDER, "lib")):
        for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
            info = entry.stat()
            mark.append((entry.name, info.st_size, info.st_mtime_ns))
    return mark


def load(name: str, folder: str = "", instead: Mapping[str, str] | None = None) -> Script:
    """The script `name` with its includes; `instead` puts other texts in the place of includes (tests: the clock)."""
    return Script(name, "\n".join(_lines(name, folder or FOLDER, instead or {}, (), set())))


def names(folder: str = "") -> list[str]:
    """All scripts there are, without their shared steps."""
    return sorted(entry[:-4] for entry in os.listdir(folder or FOLDER) if entry.endswith(".lua"))


def _lines(name: str, folder: str, instead: Mapping[str, str], above: tuple[str, ...], taken: set[str]) -> list[str]:
    lines: list[str] = []
    here: set[str] = set()
    blocks: list[tuple[int, set[str]]] = []
    for number, line in enumerate(_read(name, folder, instead).split("\n"), 1):
        bare = line.lstrip(" ")
        depth = len(line) - len(bare)
        while bare and blocks and blocks[-1][0] > depth:
            blocks.pop()
        if not bare.startswith("-- @include "):
            lines.append(line)
            continue
        if depth and not (blocks and blocks[-1][0] == depth):
            blocks.append((depth, set(blocks[-1][1] if blocks else taken)))
        scope = blocks[-1][1] if depth else taken
        wanted, place = bare[12:].strip(), f"{name}.lua:{number}"
        if wanted in here and not depth:
            raise ScriptError(f"{place}: {wanted} is included twice")
        if wanted == name or wanted in above:
            raise ScriptError(f"{place}: {wanted} includes itself")
        here.add(wanted)
        if wanted in scope:
            continue
        scope.add(wanted)
        try:
            lines += _lines(wanted, folder, instead, (*above, name), scope)
        except FileNotFoundError:
            raise ScriptError(f"{place}: there is no {wanted}.lua") from None
    return lines


def _read(name: str, folder: str, instead: Mapping[str, str]) -> str:
    if name in instead:
        return instead[name]
    with open(os.path.join(folder, name + ".lua"), encoding="utf-8") as file:
        return file.read().rstrip("\n")
