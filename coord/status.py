"""The board as a typed picture: what `omp-coord status --json` prints (version 1).

Field names are camelCase in JSON, times are milliseconds of the board's clock, and what is absent is null, never left
out. Every queue and pool of the caller's own configuration is there, also an idle one; those that only the board knows
come after them. Texts from the board are cleaned of control characters.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from coord.config.settings import DEFAULT_LANE, Queue, Settings
from coord.names import clean

SEATED = frozenset(("granted", "running", "stopped", "orphaned"))
"""States of a job that has a slot."""


class Part(BaseModel):
    """Base of all parts."""

    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True, serialize_by_alias=True, frozen=True)


class Server(Part):
    """`url` has no password and is null when no server runs; `version` is null where the server does not say."""

    url: str | None = None
    embedded: bool = False
    version: str | None = None
    reachable: bool = False


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


class Pool(Part):
    """A pool of agents' slots."""

    cap: int
    effective_cap: int
    limited_by: str | None = None
    used: int = 0
    held: int = 0
    over_by: int = 0
    line: list[dict[str, Any]] = []
    slots: list[dict[str, Any]] = []


class Caution(Part):
    """`code`: policiesDiffer, overCap, orphaned, untrusted, server, settling, twoRepositories."""

    code: str
    text: str


class Status(Part):
    """The whole picture."""

    version: int = 1
    scope: str
    server: Server
    now: int
    settling: bool = False
    paused: dict[str, Any] | None = None
    sessions: list[dict[str, Any]] = []
    pools: dict[str, Pool] = {}
    unpooled: list[dict[str, Any]] = []
    queues: dict[str, QueuePicture] = {}
    claims: list[dict[str, Any]] = []
    warnings: list[Caution] = []


class Reading:
    """What `board_read` answered, parsed; `Reading.empty` stands for no board. `jobs` are raw records by id."""

    def __init__(self, fields: dict[str, str], now: int) -> None:
        import json

        self.now = now
        self.jobs: dict[str, dict[str, Any]] = {job["id"]: job for job in json.loads(fields.get("jobs", "[]"))}
        self.limits: dict[str, dict[str, Any]] = json.loads(fields.get("limits", "{}"))
        self.policies: dict[str, dict[str, Any]] = json.loads(fields.get("policies", "{}"))
        self.order = fields.get("order", "").split()
        self.settle_ms = int(fields.get("settleMs", 0))
        self.late = fields.get("late", "").split()


def picture(reading: Reading, settings: Settings, server: Server, cautions: list[Caution]) -> Status:
    """The typed picture of what was read, for somebody with these settings."""
    queues = _queues(reading, settings)
    over = [_over(name, queue, reading) for name, queue in queues.items()]
    return Status(
        scope=settings.scope,
        server=server,
        now=reading.now,
        settling=reading.settle_ms > 0,
        pools=_pools(settings),
        queues=queues,
        warnings=[*cautions, *_settling(reading), *_differing(reading, settings), *filter(None, over), *_lost(reading)],
    )


def _queues(reading: Reading, settings: Settings) -> dict[str, QueuePicture]:
    used = {job["queue"] for job in reading.jobs.values()}
    names = dict.fromkeys([*settings.queues, *sorted(used | reading.limits.keys())])
    return {clean(name): _queue(name, settings.queues.get(name), reading) for name in names}


def _queue(name: str, own: Queue | None, reading: Reading) -> QueuePicture:
    # The last policy stays on the board when its users are gone. Then it binds nobody, and ours will replace it.
    board = reading.limits.get(name, {}) if reading.jobs or own is None else {}
    queue = own or Queue(name, board.get("slots", 1))
    effective = board.get("effective", queue.slots)
    limited = board.get("limitedBy") if own is None else None
    if effective < queue.slots:
        limited = board.get("limitedBy", "policy")
    placed = [job for id in reading.order if (job := reading.jobs.get(id)) and job["queue"] == name]
    away = [job for job in _by_ticket(reading, name) if job["state"] == "away"]
    seated = [job for job in _by_ticket(reading, name) if job["state"] in SEATED]
    return QueuePicture(
        slots=queue.slots,
        effective_slots=effective,
        limited_by=limited,
        order=board.get("order", queue.order),
        lanes=_lanes(board.get("lanes"), queue),
        running=[_job(job) for job in seated],
        waiting=[*(_job(job, place) for place, job in enumerate(placed, 1)), *map(_job, away)],
    )


def _by_ticket(reading: Reading, queue: str) -> list[dict[str, Any]]:
    """A queue's jobs, those longest served first."""
    mine = [job for job in reading.jobs.values() if job["queue"] == queue]
    return sorted(mine, key=lambda job: (job.get("fence") or "", job.get("ticket") or "", job["id"]))


def _lanes(board: dict[str, dict[str, Any]] | None, queue: Queue) -> dict[str, Lane]:
    own = {name: Lane(priority=rule[0], reserved=rule[1], max=rule[2]) for name, rule in queue.lanes.items()}
    theirs = {clean(name): Lane.model_validate(lane) for name, lane in (board or {}).items()}
    return dict(sorted({DEFAULT_LANE: Lane(), **own, **theirs}.items(), key=lambda lane: (-lane[1].priority, lane[0])))


def _job(record: dict[str, Any], place: int | None = None) -> Job:
    def text(name: str) -> str | None:
        value = record.get(name)
        return clean(str(value)) if value else None

    return Job(
        id=clean(record["id"]),
        queue=clean(record["queue"]),
        lane=clean(record["lane"]),
        owner=clean(unquote(record.get("owner", ""))),
        session=text("session"),
        label=text("label"),
        agent=text("agent"),
        command=text("command"),
        cwd=text("cwd"),
        machine=clean(record["machine"]),
        pid=record["process"]["pid"],
        state=record["state"],
        queued_at=record["queuedAt"],
        granted_at=record.get("grantedAt"),
        started_at=record.get("startedAt"),
        place=place,
        limit_ms=record.get("limitMs"),
        fence=text("fence"),
    )


def _pools(settings: Settings) -> dict[str, Pool]:
    import json

    pools = json.loads(settings.policy_json).get("pools", {})
    return {name: Pool(cap=pool["cap"], effective_cap=pool["cap"]) for name, pool in pools.items()}


def _settling(reading: Reading) -> list[Caution]:
    if not reading.settle_ms:
        return []
    left = f"{reading.settle_ms / 1000:.1f} s"
    text = f"the board is new: for {left} more it grants nothing, so that what runs can come back first"
    return [Caution(code="settling", text=text)]


def _differing(reading: Reading, settings: Settings) -> list[Caution]:
    """Configurations in use that are not the same; the caller's counts when it has a file."""
    users = {job.get("policy") for job in reading.jobs.values()}
    live = {name: policy for name, policy in reading.policies.items() if name in users and not policy.get("fallback")}
    sources = {name: clean(policy.get("source") or "?") for name, policy in live.items()}
    if settings.path is not None and settings.queues and live:
        sources.setdefault(settings.policy, clean(settings.path))
    if len(sources) < 2:
        return []
    files = sorted(set(sources.values()))
    what = ", ".join(files) if len(files) > 1 else f"{files[0]} (it was changed meanwhile)"
    return [Caution(code="policiesDiffer", text=f"configurations differ, the lowest limits count: {what}")]


def _over(name: str, queue: QueuePicture, reading: Reading) -> Caution | None:
    """A job inside the slot of an ancestor takes none of its own."""
    used = sum(1 for job in queue.running if not reading.jobs[job.id].get("inside"))
    over = used - queue.effective_slots
    if over <= 0:
        return None
    run = f"{used} run, {queue.effective_slots} may"
    text = f"the queue {clean(name)} is over cap by {over} ({run}): nothing is granted until under"
    return Caution(code="overCap", text=text)


def _lost(reading: Reading) -> list[Caution]:
    return [
        Caution(
            code="orphaned",
            text=f"the runner of job {clean(id)} ({clean(job['queue'])}) is gone, its command still has the slot: "
            f"{_processes(job)}; `omp-coord queue cancel {clean(id)} --kill` ends it",
        )
        for id, job in reading.jobs.items()
        if job["state"] == "orphaned"
    ]


def _processes(job: dict[str, Any]) -> str:
    pids = job.get("pids") or []
    return f"process{'es' if len(pids) > 1 else ''} {', '.join(map(str, pids)) or '?'}"
