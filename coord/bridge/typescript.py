"""Writes `nouns.ts`, `protocol.ts` and `offered.ts` in `plugin/src` from `coord.bridge.nouns`, `protocol` and `tools`:
`python -m coord.bridge.typescript` (`--check` only looks).

Every type of the protocol becomes an interface or an alias of the same name, `REQUESTS` and `NOTIFICATIONS` become the
maps by which the plugin's calls are typed. What is not required may be left out or null in what the host sends; in what
the bridge sends it may be left out.
"""

from __future__ import annotations

import json
import os
import re
import sys
import types
from types import ModuleType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

from coord.bridge import nouns, protocol, tools
from coord.config.find import FILE_NAME

FOLDER = os.path.join(os.path.dirname(__file__), "..", "..", "plugin", "src")
HEAD = "// Made from coord/bridge/{}.py by `python -m coord.bridge.typescript`; changed there, not here."
_SIMPLE = {str: "string", int: "number", float: "number", bool: "boolean", Any: "unknown", type(None): "null"}
_ALIASES = {value: name for name, value in vars(nouns).items() if get_origin(value) is Literal}


def files() -> dict[str, str]:
    """Name → content."""
    return {"nouns.ts": _nouns(), "protocol.ts": _protocol(), "offered.ts": _offered()}


def _nouns() -> str:
    aliases = [f"export type {name} = {_options(kind)};" for kind, name in _ALIASES.items()]
    return "\n\n".join([HEAD.format("nouns"), *aliases, *_interfaces(nouns)]) + "\n"


def _protocol() -> str:
    text = "\n\n".join([*_interfaces(protocol), _requests(), _notifications()])
    used = [name for name in sorted(vars(nouns)) if re.search(rf"[ (<]{name}\b(?!\??:)", text)]
    parts = [
        HEAD.format("protocol"),
        f'import type {{ {", ".join(used)} }} from "./nouns.ts";',
        f"export const PROTOCOL = {protocol.PROTOCOL};",
        text,
    ]
    return "\n\n".join(parts) + "\n"


def _offered() -> str:
    """What may be registered before a bridge has said it."""
    listed = json.dumps(tools.TOOLS, indent="\t")
    parts = [
        HEAD.format("tools"),
        'import type { Tool } from "./nouns.ts";',
        f"export const CONFIG_FILE = {json.dumps(FILE_NAME)};",
        f"/** The first is there in every session. */\nexport const TOOLS: Tool[] = {listed};",
    ]
    return "\n\n".join(parts) + "\n"


def _interfaces(module: ModuleType) -> list[str]:
    """Those of the types that `module` itself defines."""
    own = [(name, kind) for name, kind in vars(module).items() if is_typeddict(kind)]
    return [_interface(name, kind) for name, kind in own if kind.__module__ == module.__name__]


def _interface(name: str, kind: Any) -> str:
    if not (hints := get_type_hints(kind)):
        return f"export type {name} = Record<string, never>;"
    lines = []
    for field, hint in hints.items():
        optional = "" if field in kind.__required_keys__ else "?"
        lines.append(f"\t{field}{optional}: {_name(hint)};")
    return "\n".join([_comment(kind), f"export interface {name} {{", *lines, "}"]).lstrip("\n")


def _comment(kind: Any) -> str:
    words = " ".join((kind.__doc__ or "").split())
    return "" if not words or words.startswith("dict(") else f"/** {words} */"


def _name(kind: Any) -> str:
    origin, inside = get_origin(kind), get_args(kind)
    if origin is list:
        item = _name(inside[0])
        return f"({item})[]" if "|" in item else f"{item}[]"
    if origin is dict:
        return f"Record<{_name(inside[0])}, {_name(inside[1])}>"
    if origin in (Union, types.UnionType):
        return " | ".join(_name(each) for each in inside)
    if origin is Literal:
        return _ALIASES.get(kind) or _options(kind)
    return kind.__name__ if is_typeddict(kind) else _SIMPLE[kind]


def _options(kind: Any) -> str:
    return " | ".join(_constant(each) for each in get_args(kind))


def _constant(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else f'"{value}"'


def _requests() -> str:
    lines = ["/** Method → its parameters and its result. */", "export interface Requests {"]
    for method, (params, result) in protocol.REQUESTS.items():
        lines.append(f'\t"{method}": {{ params: {_name(params)}; result: {_name(result or type(None))} }};')
    return "\n".join([*lines, "}"])


def _notifications() -> str:
    lines = ["/** What the bridge says unasked: method → its parameters. */", "export interface Notifications {"]
    lines += [f"\t{method}: {_name(params)};" for method, params in protocol.NOTIFICATIONS.items()]
    return "\n".join([*lines, "}"])


def main(words: list[str]) -> int:
    """Writes the files; with `--check` exit 1 when one is not what it would be."""
    same = True
    for name, made in files().items():
        path = os.path.join(FOLDER, name)
        if words == ["--check"]:
            with open(path, encoding="utf-8") as file:
                same = file.read() == made and same
        else:
            with open(path, "w", encoding="utf-8") as file:
                file.write(made)
    return 0 if same else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
