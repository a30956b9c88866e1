"""All that host and bridge say to each other (protocol 1), one type per request, result and notification.

Field names are those of the wire. `plugin/src/protocol.ts` is made from this module. What is not required may also be
null. (No `from __future__ import annotations` here: it would hide from Python 3.11 which fields are required.)
"""

from typing import Any, Literal, NotRequired, TypedDict

from coord.bridge.nouns import (
    Agent,
    Cause,
    CloseReason,
    Command,
    Host,
    InactiveCode,
    Level,
    Notice,
    Parent,
    SpawnQueue,
    Tool,
)

PROTOCOL = 1

# -- requests, with their results


class SessionOpen(TypedDict):
    """`sessionId`: the host's own; `pid`: the host's process; `agents`: all that run now; `shown`: ids of deliveries that
    the conversation has already."""

    protocol: int
    cwd: str
    host: NotRequired[Host | None]
    sessionId: str
    pid: int
    agents: NotRequired[list[Agent] | None]
    shown: NotRequired[list[str] | None]


class Opened(TypedDict):
    protocol: int
    active: Literal[True]
    session: str
    label: str
    scope: str
    footer: str
    notices: list[Notice]
    env: dict[str, str]
    tools: list[Tool]
    commands: list[Command]
    spawnQueue: SpawnQueue


class Inactive(TypedDict):
    """The session is not on the board; the bridge waits for the end of input, or until it can join (`joined`)."""

    protocol: int
    active: Literal[False]
    code: InactiveCode
    reason: str
    tools: list[Tool]
    commands: list[Command]


class SpawnRequest(TypedDict):
    """`key`: the agent's id, if it is known; `invocation`: eval, all else counts as task."""

    parent: Parent
    type: str
    key: NotRequired[str | None]
    invocation: NotRequired[str | None]


class SpawnResult(TypedDict):
    """`pool` null: the agent is counted, not capped. `cap` null: no cap is known. `coordinated` false: let through without
    the board."""

    allowed: bool
    coordinated: bool
    reason: NotRequired[str]
    cause: NotRequired[Cause]
    place: NotRequired[int]
    pool: str | None
    used: int
    cap: int | None
    allowance: int | None


class AgentStarted(TypedDict):
    session: str
    id: str
    parent: Parent
    type: str


class AgentStartedResult(TypedDict):
    warning: NotRequired[str]
    allowance: int | None


class AgentEnded(TypedDict):
    session: str
    id: str


class AgentsSync(TypedDict):
    agents: list[Agent]


class Allowance(TypedDict):
    allowance: int | None


class CommandCheck(TypedDict):
    """A command that an agent is about to run with a tool of the host; `cwd`: the folder that it names, if any."""

    agent: str
    kind: str
    tool: str
    command: str
    cwd: NotRequired[str | None]


class CommandResult(TypedDict):
    """`command`: what is run instead. `reason`: why it is refused. `context`: words for the model that ran it."""

    action: Literal["run", "refuse"]
    command: NotRequired[str]
    reason: NotRequired[str]
    context: NotRequired[str]


class ToolCall(TypedDict):
    agent: str
    name: str
    args: NotRequired[dict[str, Any] | None]


class ToolResult(TypedDict):
    text: str
    isError: bool


class SlashRun(TypedDict):
    args: str


class SlashText(TypedDict):
    text: str


class SlashComplete(TypedDict):
    prefix: str


class SlashItem(TypedDict):
    value: str
    label: str
    description: str


class SlashItems(TypedDict):
    items: list[SlashItem]


class QueueUnsized(TypedDict):
    """The host's own spawn queue cannot be kept at the allowance: it has no such setting, or setting it failed."""

    reason: str


class MessageAck(TypedDict):
    ids: list[str]


class SessionClose(TypedDict):
    reason: CloseReason


# -- notifications to the host


Deliver = TypedDict("Deliver", {"id": str, "to": str, "from": str, "text": str, "startTurn": bool})
"""Words for a conversation (`to`: main or an agent's id). Acknowledged with `message.ack`, else sent again at re-open."""


class Notify(TypedDict):
    level: Level
    text: str


class Footer(TypedDict):
    text: str


class AllowanceNow(TypedDict):
    value: int | None
    note: str


REQUESTS: dict[str, tuple[Any, Any]] = {
    "session.open": (SessionOpen, Opened | Inactive),
    "spawn.request": (SpawnRequest, SpawnResult),
    "agent.started": (AgentStarted, AgentStartedResult),
    "agent.ended": (AgentEnded, Allowance),
    "agents.sync": (AgentsSync, Allowance),
    "command.check": (CommandCheck, CommandResult),
    "tool.call": (ToolCall, ToolResult),
    "slash.run": (SlashRun, SlashText),
    "slash.complete": (SlashComplete, SlashItems),
    "spawnQueue.unsized": (QueueUnsized, None),
    "message.ack": (MessageAck, None),
    "session.close": (SessionClose, None),
}
"""Method → its parameters and its result (None: null)."""

NOTIFICATIONS: dict[str, Any] = {
    "deliver": Deliver,
    "notify": Notify,
    "footer": Footer,
    "allowance": AllowanceNow,
    "joined": Opened,
}
"""What the bridge says unasked. `joined`: a session that was inactive is on the board now."""
