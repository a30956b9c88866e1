"""The board as a typed picture: what `omp-coord status --json` prints (version 1).

Field names are camelCase in JSON, times are milliseconds of the board's clock, and what is absent is null, never left
out. Every queue and pool of the caller's own configuration is there, also an idle one; those that only the board knows
come after them. Texts from the board are cleaned of control characters. (`coord.view` makes the picture.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from coord.view.reading import Reading
from coord.view.whole import whole

if TYPE_CHECKING:
    from coord.config.settings import Settings

__all__ = [
    "Caution", "Job", "Lane", "Pause", "Pool", "QueuePicture", "Reading", "Server", "Session", "Slot", "Status", "Waiter",
    "picture",
]  # fmt: skip


class Part(BaseModel):
    """Base of all parts."""

    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True, serialize_by_alias=True, frozen=True)


class Server(Part):
    """`url` has no password and is null when no server runs; `version` is null where the server does not say."""

    url: str | None = None
    embedded: bool = False
    version: str | None = None
    reachable: bool = False


class Pause(Part):
    """`by` is who paused the scope, `label` the letter of the session that did."""

    by: str | None
    label: str | None
    reason: str | None
    since: int


class Session(Part):
    """`label` is its letter, `agents` how many slots it has, `policy` the hash of its configuration; `late`: it has not
    been heard of for some seconds."""

    id: str
    label: str
    cwd: str
    machine: str
    pid: int
    joined: int
    late: bool
    agents: int
    policy: str


class Slot(Part):
    """An agent. `label` is its session's letter; `agent` is null until it is known; `unqueued`: null, `revived` (started
    without approval) or `eval`."""

    id: str
    session: str
    label: str | None
    agent: str | None
    parent: str | None
    type: str
    pool: str | None
    state: str
    since: int
    unqueued: str | None


class Waiter(Part):
    """A session in a pool's line. `hold_until` is null without a hold, and while the scope is paused (holds do not age)."""

    session: str
    label: str | None
    since: int
    hold_until: int | None


class Pool(Part):
    """`cap` is that of the caller's configuration (else the board's), `effective_cap` the one in force now; both are null
    for a pool that no live configuration names any more. `used` is starting + running + ending; `line` in its order."""

    cap: int | None
    effective_cap: int | None
    limited_by: str | None
    used: int
    held: int
    over_by: int
    line: list[Waiter]
    slots: list[Slot]


class Job(Part):
    """`place`: 1 is served next; null when it has a slot, or lost its turn (`away`). `fence` is a text of 16 digits.
    `label` is the one given to `run`, and then there is no `command`."""

    id: str
    queue: str
    lane: str
    owner: str
    session: str | None
    label: str | None
    agent: str | None
    command: str | None
    cwd: str | None
    machine: str
    pid: int
    state: str
    queued_at: int
    granted_at: int | None
    started_at: int | None
    place: int | None
    limit_ms: int | None
    fence: str | None


class Lane(Part):
    """`max` null: as many as the queue has slots."""

    priority: int = 0
    reserved: int = 0
    max: int | None = None


class QueuePicture(Part):
    """`slots` are those of the caller's configuration (else the board's), `effective_slots` those in force now;
    `limited_by` says why they are fewer: `policy` (another configuration) or `load`. `waiting` is in service order."""

    slots: int
    effective_slots: int
    limited_by: str | None
    order: str
    lanes: dict[str, Lane]
    running: list[Job]
    waiting: list[Job]


class Caution(Part):
    """`code`: policiesDiffer, versionsDiffer, overCap, late, bridgeLost, orphaned, untrusted, server, settling,
    twoRepositories."""

    code: str
    text: str


class Status(Part):
    """The whole picture."""

    version: int = 1
    scope: str
    server: Server
    now: int
    settling: bool = False
    paused: Pause | None = None
    sessions: list[Session] = []
    pools: dict[str, Pool] = {}
    unpooled: list[Slot] = []
    queues: dict[str, QueuePicture] = {}
    claims: list[dict[str, Any]] = []
    warnings: list[Caution] = []


def picture(reading: Reading, settings: Settings, server: Server, cautions: list[Caution]) -> Status:
    """The typed picture of what was read, for somebody with these settings."""
    first = [caution.model_dump() for caution in cautions]
    return Status.model_validate(whole(reading, settings, server.model_dump(), first))
