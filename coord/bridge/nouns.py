"""The things that the bridge's protocol speaks of, of which its requests, results and notifications consist.

`plugin/src/nouns.ts` is made from this module. (Why there is no `from __future__` here: see `coord.bridge.protocol`.)
"""

from typing import Any, Literal, NotRequired, TypedDict

Level = Literal["info", "warning", "error"]
InactiveCode = Literal["noConfig", "badConfig", "noServer", "off", "upgrade"]
CloseReason = Literal["exit", "new", "switch", "branch", "signal"]
Cause = Literal["full", "held", "paused", "load", "policy", "settling", "nestedType", "nestedFull"]


class Host(TypedDict):
    """`plugin`: the version of the plugin that speaks."""

    name: NotRequired[str | None]
    version: NotRequired[str | None]
    plugin: NotRequired[str | None]


class Parent(TypedDict):
    """`kind`: main or sub; another word counts as main, so that it is never exempt."""

    id: str
    kind: str


class Agent(TypedDict):
    """An agent that runs; `since` in milliseconds."""

    id: str
    type: str
    parent: Parent
    since: NotRequired[float | None]


class Notice(TypedDict):
    level: Level
    text: str


class Tool(TypedDict):
    """`schema`: JSON Schema of the tool's arguments."""

    name: str
    description: str
    schema: dict[str, Any]


class Command(TypedDict):
    """A word behind `/coord`."""

    name: str
    description: str


class SpawnQueue(TypedDict):
    """`drive`: whether the host's own spawn queue is kept at `allowance` now; `note` says so, or why not."""

    drive: bool
    allowance: int | None
    note: str
