"""What a configuration means for a run, as plain objects that cost nothing to make."""

from __future__ import annotations

from coord.errors import ConfigError
from coord.names import check_name, clean, nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

DEFAULT_LANE = "default"
LEASE_MS = 10_000
FALLBACK_POLICY_JSON = '{"fallback":true,"leaseMs":10000,"source":""}'
FALLBACK_POLICY = "64d5398d0286d7df"
"""First 16 hex digits of the SHA-1 of that JSON without its source; a test computes it again."""


class Queue:
    """One queue. `lanes`: name → (priority, reserved, max or None); `time_limit_ms` None: no limit."""

    __slots__ = ("lanes", "leftovers", "name", "order", "slots", "time_limit_ms")

    def __init__(
        self,
        name: str,
        slots: int = 1,
        order: str = "fifo",
        lanes: dict[str, tuple[int, int, int | None]] | None = None,
        time_limit_ms: int | None = None,
        leftovers: str = "keep",
    ) -> None:
        self.name = name
        self.slots = slots
        self.order = order
        self.lanes = lanes or {}
        self.time_limit_ms = time_limit_ms
        self.leftovers = leftovers


class AgentRules:
    """What a session itself must know of `agents`: whether spawns may wait in the host's queue, the pools in the file's
    order, and for how long (ms) a freed slot is held. Without a file: no pools, and nothing to wait for."""

    __slots__ = ("hold_ms", "pools", "queue_spawns")

    def __init__(self, queue_spawns: bool = True, pools: Iterable[str] = (), hold_ms: int = 300_000) -> None:
        self.queue_spawns = queue_spawns
        self.pools = list(pools)
        self.hold_ms = hold_ms


class CommandRules:
    """What becomes of agents' bash commands. `rules`: (pattern, action, reason or queue, lane or None) in the file's order,
    `tag`: whether each carries its agent's id in front."""

    __slots__ = ("rules", "tag")

    def __init__(self, rules: Iterable[tuple[str, str, str, str | None]] = (), tag: bool = False) -> None:
        self.rules = list(rules)
        self.tag = tag


class Settings:
    """A loaded configuration.

    `path` is None without a file, and then any valid queue name is a queue of one slot. `redis_url` has its
    variables filled in; `trusted` is False when it leaves this machine and nobody has trusted this content of
    the file. `policy_json` is what the board gets, `policy` its hash. `warnings` and `hint` are for stderr.
    """

    __slots__ = (
        "agents",
        "commands",
        "hint",
        "lease_ms",
        "path",
        "policy",
        "policy_json",
        "queues",
        "redis_url",
        "scope",
        "trusted",
        "warnings",
    )

    def __init__(self, path: str | None, scope: str) -> None:
        self.path = path
        self.scope = scope
        self.redis_url: str | None = None
        self.trusted = True
        self.policy = FALLBACK_POLICY
        self.policy_json = FALLBACK_POLICY_JSON
        self.queues: dict[str, Queue] = {}
        self.agents = AgentRules()
        self.commands = CommandRules()
        self.lease_ms = LEASE_MS
        self.warnings: list[str] = []
        self.hint: str | None = None

    def queue(self, name: str, lane: str = DEFAULT_LANE) -> Queue:
        """The queue `name`, sure to have `lane`; ConfigError lists the known ones and the nearest."""
        if self.path is None:
            if check_name("lane", lane) != DEFAULT_LANE:
                raise ConfigError(
                    f'there is no lane "{clean(lane)}": without a file queues have none; `omp-coord init` writes one'
                )
            return Queue(check_name("queue", name))
        if name not in self.queues:
            raise ConfigError(unknown("queue", name, self.queues, self.path))
        queue = self.queues[name]
        if lane != DEFAULT_LANE and lane not in queue.lanes:
            lanes = dict.fromkeys([*queue.lanes, DEFAULT_LANE])
            raise ConfigError(unknown("lane", lane, lanes, self.path, f' of the queue "{name}"'))
        return queue

    def policy_for(self, queue: str) -> tuple[str, str]:
        """The policy's hash and JSON as the board gets them for a job of `queue`: without a file, one that gives just this
        queue its one slot, and never lowers what a file on the board says."""
        if self.path is not None:
            return self.policy, self.policy_json
        return f"no-file-{queue}", f'{{"fallback":true,"queues":{{"{queue}":{{"slots":1}}}},"source":""}}'


def unknown(kind: str, name: str, known: Iterable[str], path: str, of: str = "") -> str:
    """One sentence: this `kind` is not in the file, the nearest spelling, and those that are."""
    names = list(known)
    near = nearest(name, names)
    guess = f' Did you mean "{near}"?' if near else ""
    there = f"Known: {', '.join(names)}." if names else f"The file has no {kind}s yet; add it there."
    return f'{clean(path)} has no {kind} "{clean(name[:80])}"{of}.{guess} {there}'
