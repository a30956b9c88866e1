"""Holds what came in against the types of `protocol`: right, or which field is not and what it must be."""

from __future__ import annotations

import math
import types
from collections.abc import Callable
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

Check = Callable[[Any], Any]
"""Takes a value; returns it as it may be used, or raises `Misfit`."""


class Misfit(Exception):
    """A parameter is not what it must be; the text names it. Where it stands is put together on the way out, so that
    right values, which are nearly all, cost no words."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what, self.place = what, ""

    def inside(self, outer: str) -> Misfit:
        """The same, seen from the field or list that holds it."""
        joint = "" if self.place.startswith("[") or not self.place else "."
        self.place = f"{outer}{joint}{self.place}"
        return self

    def __str__(self) -> str:
        return f"{self.place or 'params'} {self.what}"


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

    def check(value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise Misfit("must be an object")
        known: dict[str, Any] = {}
        for name, inner, required in fields:
            found = value.get(name)
            if found is None and not required:
                continue
            if found is None and name not in value:
                raise Misfit("is missing").inside(name)
            try:
                known[name] = inner(found)
            except Misfit as misfit:
                raise misfit.inside(name) from None
        return known

    return check


def _list(item: Check) -> Check:
    def check(value: Any) -> list[Any]:
        if not isinstance(value, list):
            raise Misfit("must be a list")
        known = []
        for each in value:
            try:
                known.append(item(each))
            except Misfit as misfit:
                raise misfit.inside(f"[{len(known)}]") from None
        return known

    return check


def _either(kinds: list[Check], nullable: bool) -> Check:
    def check(value: Any) -> Any:
        if value is None and nullable:
            return None
        for inner in kinds[:-1]:
            try:
                return inner(value)
            except Misfit:
                continue
        return kinds[-1](value)

    return check


def _one_of(allowed: tuple[Any, ...]) -> Check:
    def check(value: Any) -> Any:
        if value not in allowed:
            raise Misfit(f"must be one of: {', '.join(map(str, allowed))}")
        return value

    return check


def _plain(kind: type, words: str) -> Check:
    def check(value: Any) -> Any:
        if not isinstance(value, kind) or isinstance(value, bool):
            raise Misfit(f"must be {words}")
        return value

    return check


def _number(value: Any) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool) or value in (math.inf, -math.inf):
        raise Misfit("must be a number")  # 1e999 is infinite, which has no place in JSON
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise Misfit("must be a text")
    # Half a surrogate pair can be written in JSON, but not in UTF-8, which the server speaks.
    return value if value.isascii() else value.encode("utf-8", "replace").decode()


_SIMPLE: dict[Any, Check] = {
    str: _text,
    int: _plain(int, "a whole number"),
    float: _number,
    dict: _plain(dict, "an object"),
    Any: lambda value: value,
}
