"""A first `.omp-coord.json` for a folder, from the build tools that it shows."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator

from coord.config.find import FILE_NAME
from coord.config.jsonc import JsonError, decode, parse
from coord.config.scope import safe_name
from coord.errors import ConfigError
from coord.names import NAME_LIMIT, clean

_READ_AT_MOST = 1 << 20
_SLOTS = {"lint": 2, "test": 1, "build": 1}
_WORDS = {
    "lint": ("lint", "check", "typecheck", "format", "fmt", "clippy"),
    "test": ("test", "tests", "e2e"),
    "build": ("build", "dist", "compile"),
}
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_JUSTFILES = ("justfile", "Justfile", ".justfile")
_TARGET = re.compile(r"^@?([A-Za-z][\w-]*)(?:[ \t]+[^:=\n]*)?:(?!=)", re.M)

_TEXT = """\
// Configuration of omp-coord. All fields: docs/configuration.md, or `omp-coord config schema`.
// Check it with `omp-coord config check`. Comments and trailing commas are fine.
{{
  // The name of the board. Everybody with this name shares it, so check the file in.
  "scope": "{scope}",

  "agents": {{
    "pools": {{
      // At most this many subagents at once, over all sessions together.
      "work": {{ "cap": 2 }},
    }},
  }},

  // Jobs that take turns: `omp-coord run QUEUE -- COMMAND`. "slots" is how many run at once.
  "queues": {{
{queues}
  }},
}}
"""


def write_starter(folder: str) -> str:
    """Write the file and return its path; ConfigError when there is one already or it cannot be written."""
    path = os.path.join(os.path.realpath(folder), FILE_NAME)
    try:
        # O_EXCL: of two calls at once one writes, and a link that leads elsewhere is not followed. The mode
        # is set on purpose: with an open umask the file would be writable by all, and then ignored.
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
    except FileExistsError:
        raise ConfigError(f"{clean(path)} exists already and is left as it is: edit it.") from None
    except OSError as error:
        raise ConfigError(f"{clean(path)} cannot be written: {error.strerror}.") from None
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(starter_text(folder))
    return path


def starter_text(folder: str) -> str:
    """What a starter for `folder` says; its scope is new with every call."""
    name = safe_name(os.path.basename(os.path.realpath(folder)))
    scope = f"{name[: NAME_LIMIT - 7]}-{os.urandom(3).hex()}"
    return _TEXT.format(scope=scope, queues="\n".join(_queue_lines(folder)))


def _queue_lines(folder: str) -> Iterator[str]:
    seen = commands_seen(folder)
    if not seen:
        yield "    // Nothing known was found here, so these are examples."
        seen = {"test": [], "build": []}
    for queue, commands in seen.items():
        for command in commands:
            yield f"    // omp-coord run {queue} -- {command}"
        yield f'    "{queue}": {{ "slots": {_SLOTS[queue]} }},'


def commands_seen(folder: str) -> dict[str, list[str]]:
    """For each of lint, test and build the commands that the folder's build tools have for it."""
    found: dict[str, list[str]] = {}
    commands = list(_commands(folder))
    for queue in _SLOTS:
        fitting = [command for kind, command in commands if kind == queue]
        if fitting:
            found[queue] = list(dict.fromkeys(fitting))
    return found


def _commands(folder: str) -> Iterator[tuple[str, str]]:
    scripts = _table(_package_json(folder), "scripts")
    yield from _named(scripts, f"{_package_manager(folder)} run")
    yield from _python(folder)
    yield from _named(_targets(folder, _MAKEFILES), "make")
    yield from _named(_targets(folder, _JUSTFILES), "just")
    if os.path.exists(os.path.join(folder, "Cargo.toml")):
        yield from (("lint", "cargo clippy"), ("test", "cargo test"), ("build", "cargo build"))


def _named(names: object, program: str) -> Iterator[tuple[str, str]]:
    """The queue of each name that is a known word, so that nothing else of a file gets into ours."""
    for name in names if isinstance(names, dict | list) else ():
        for queue, words in _WORDS.items():
            if name in words:
                yield queue, f"{program} {name}"


def _package_manager(folder: str) -> str:
    locks = {"pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn", "bun.lock": "bun", "bun.lockb": "bun"}
    return next((tool for lock, tool in locks.items() if os.path.exists(os.path.join(folder, lock))), "npm")


def _package_json(folder: str) -> object:
    try:
        return parse(_read(folder, "package.json")).value
    except JsonError:  # none, or a broken one: that is not ours to report
        return None


def _python(folder: str) -> Iterator[tuple[str, str]]:
    try:
        project: object = tomllib.loads(_read(folder, "pyproject.toml"))
    except (tomllib.TOMLDecodeError, RecursionError):
        return
    tools = _table(project, "tool")
    known = {"ruff": ("lint", "ruff check ."), "mypy": ("lint", "mypy ."), "pyright": ("lint", "pyright")}
    known |= {"pylint": ("lint", "pylint ."), "pytest": ("test", "pytest"), "tox": ("test", "tox")}
    yield from (command for tool, command in known.items() if tool in tools)
    if _table(project, "build-system"):
        yield "build", "python -m build"


def _targets(folder: str, names: tuple[str, ...]) -> list[str]:
    text = next(filter(None, (_read(folder, name) for name in names)), "")
    return _TARGET.findall(text)


def _table(value: object, key: str) -> dict[str, object]:
    inner = value.get(key) if isinstance(value, dict) else None
    return inner if isinstance(inner, dict) else {}


def _read(folder: str, name: str) -> str:
    """The text of a file; empty when none can be read: a starter is made from what can be seen."""
    path = os.path.join(folder, name)
    try:
        if not os.path.isfile(path):
            return ""
        with open(path, "rb") as file:
            return decode(file.read(_READ_AT_MOST))
    except (OSError, JsonError):
        return ""
