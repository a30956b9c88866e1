"""Holds what came in against the types of `protocol`: right, or which field is not and what it must be."""

from __future__ import annotations

import types
from collections.abc import Callable
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

Check = Callable[[Any, str], Any]
"""Takes a value and where it stands; returns it as it may be used, or raises `Misfit`."""


class Misfit(Exception):
    """A parameter is not what it must be; the text names it."""


@cache
def shape(kind: Any) -> Check:
    """The check for a type: str, int, float, None, Any, Literal, unions, lists, dicts by text, TypedDicts."""
    if is_typeddict(kind):
        return _record(kind)
    origin, inside = get_origin(kind), get_args(kind)
    if origin is list:
        return _list(shape(inside[0]))
    if origin in (Union, types.UnionType):
        return _either([shape(each) for each in inside if each is not type(None)], type(None) in inside)
    if origin is Literal:
        return _one_of(inside)
    return _SIMPLE[origin or kind]


def _record(kind: Any) -> Check:
    fields = [(name, shape(hint), name in kind.__required_keys__) for name, hint in get_type_hints(kind).items()]

    def check(value: Any, place: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise Misfit(f"{place or 'params'} must be an object")
        known: dict[str, Any] = {}
        for name, inner, required in fields:
            found, where = value.get(name), f"{place}.{name}" if place else name
            if found is None and not required:
                continue
            if found is None and name not in value:
                raise Misfit(f"{where} is missing")
            known[name] = inner(found, where)
        return known

    return check


def _list(item: Check) -> Check:
    def check(value: Any, place: str) -> list[Any]:
        if not isinstance(value, list):
            raise Misfit(f"{place} must be a list")
        return [item(each, f"{place}[{n}]") for n, each in enumerate(value)]

    return check


def _either(kinds: list[Check], nullable: bool) -> Check:
    def check(value: Any, place: str) -> Any:
        if value is None and nullable:
            return None
        for inner in kinds[:-1]:
            try:
                return inner(value, place)
            except Misfit:
                continue
        return kinds[-1](value, place)

    return check


def _one_of(allowed: tuple[Any, ...]) -> Check:
    def check(value: Any, place: str) -> Any:
        if value not in allowed:
            raise Misfit(f"{place} must be one of: {', '.join(map(str, allowed))}")
        return value

    return check


def _plain(kind: type | tuple[type, ...], words: str) -> Check:
    def check(value: Any, place: str) -> Any:
        if not isinstance(value, kind) or isinstance(value, bool):
            raise Misfit(f"{place} must be {words}")
        return value

    return check


def _text(value: Any, place: str) -> str:
    if not isinstance(value, str):
        raise Misfit(f"{place} must be a text")
    # Half a surrogate pair can be written in JSON, but not in UTF-8, which the server speaks.
    return value if value.isascii() else value.encode("utf-8", "replace").decode()


_SIMPLE: dict[Any, Check] = {
    str: _text,
    int: _plain(int, "a whole number"),
    float: _plain((int, float), "a number"),
    dict: _plain(dict, "an object"),
    Any: lambda value, place: value,
}
