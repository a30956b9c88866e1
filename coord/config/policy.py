"""What is remembered of a validated configuration: plain data for a run, and the policy for the board."""

from __future__ import annotations

import hashlib
import json
import os
from typing import Any

from coord.config.models import Agents, Config, Pool
from coord.config.queue_models import CommandRule, Queue, RefuseRule
from coord.names import duration


def flatten(config: Config, path: str, content: bytes) -> dict[str, Any]:
    """What `load` needs of a file, in types that marshal knows; another shape needs another cache format."""
    policy = policy_of(config)
    return {
        "scope": config.scope,
        "url": config.redis.url,
        "sha256": hashlib.sha256(content).hexdigest(),
        "leaseMs": policy["leaseMs"],
        "policy": policy_hash(policy),
        "policyJson": _compact({**policy, "source": os.fsencode(path).decode("utf-8", "replace")}),
        "queues": [_run_fields(name, queue) for name, queue in config.queues.items()],
        "agents": (config.agents.queue_spawns, list(config.agents.pools), policy["agents"]["holdMs"]),
        "commands": ([_command(rule) for rule in config.commands], config.tag_agent_commands),
    }


def policy_of(config: Config) -> dict[str, Any]:
    """Caps, slots, orders, lanes and limits; what is empty is left out: an empty table has no clear JSON."""
    return _without_empty(
        {
            "queues": {name: _queue(queue) for name, queue in config.queues.items()},
            "pools": {name: _pool(pool) for name, pool in config.agents.pools.items()},
            "agents": _agents(config.agents),
            "leaseMs": round(config.lease_seconds * 1000),
        }
    )


def policy_hash(policy: dict[str, Any]) -> str:
    """The name of a policy: 16 hex digits, the same for the same content wherever its file lies."""
    return hashlib.sha1(_compact(policy).encode(), usedforsecurity=False).hexdigest()[:16]


def _run_fields(name: str, queue: Queue) -> tuple[Any, ...]:
    lanes = {lane: (rule.priority, rule.reserved, rule.max) for lane, rule in queue.lanes.items()}
    return (name, queue.slots, queue.order, lanes, _limit_ms(queue), queue.leftovers)


def _command(rule: CommandRule) -> tuple[str, str, str, str | None]:
    if isinstance(rule, RefuseRule):
        return (rule.pattern, rule.action, rule.reason, None)
    return (rule.pattern, rule.action, rule.queue, rule.lane)


def _limit_ms(queue: Queue) -> int | None:
    return None if queue.time_limit is None else round(duration(queue.time_limit) * 1000)


def _queue(queue: Queue) -> dict[str, Any]:
    lanes = {name: lane.model_dump(exclude_none=True) for name, lane in queue.lanes.items()}
    return _without_empty(
        {
            "slots": queue.slots,
            "order": queue.order,
            "timeLimitMs": _limit_ms(queue),
            "lanes": lanes,
            "loadCaps": [[entry.load, entry.slots] for entry in queue.load_caps],
        }
    )


def _pool(pool: Pool) -> dict[str, Any]:
    return _without_empty({"cap": pool.cap, "loadCaps": [[entry.load, entry.cap] for entry in pool.load_caps]})


def _agents(agents: Agents) -> dict[str, Any]:
    """The rules that tell which agents count where; pools in the file's order, which sorted keys would lose."""
    nested = {"types": agents.nested_types, "maxRunningPerParent": agents.nested.max_running_per_parent}
    return _without_empty(
        {
            "pools": [_without_empty({"name": name, "types": pool.types}) for name, pool in agents.pools.items()],
            "defaultPool": agents.first_choice,
            "exempt": agents.exempt,
            "nested": _without_empty(nested),
            "holdMs": round(agents.hold_minutes * 60_000),
            "startTimeoutMs": round(agents.start_timeout_seconds * 1000),
            "queueSpawns": agents.queue_spawns,
        }
    )


def _without_empty(fields: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value is not None and value not in ({}, [])}


def _compact(value: dict[str, Any]) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))
