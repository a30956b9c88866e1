"""The whole board, read in one go, and what it must look like according to the model."""

from __future__ import annotations

import json
from typing import Any

from coord.board import Board
from coord.keys import KEYS, Keys
from tests.model.rules import Rules
from tests.model.things import Job

_READ = """
local function all(name) return redis.call('HGETALL', name) end
local function zset(name) return redis.call('ZRANGE', name, 0, -1, 'WITHSCORES') end
local read = { hash = all, zset = zset, stream = function(name) return redis.call('XRANGE', name, '-', '+') end }
local found = { redis.call('KEYS', '*') }
for i, name in ipairs(KEYS) do
  local kind = redis.call('TYPE', name).ok
  found[i + 1] = kind == 'none' and {} or read[kind](name)
end
return found
"""
LEXICAL = ("waiting", "running", "turns", "nest", "policyUse", "seats", "line", "holds")
RECORDS = ("jobs", "limits", "ended", "sessions", "slots")
SCORED = ("leases", "deadlines", "served", "endedAt")


class Picture:
    """What stands on the board: hashes and scored sets as dicts, lexical sets as sets, events as a list of dicts."""

    def __init__(self, board: Board) -> None:
        keys = Keys(board.scope)
        names = list(KEYS.values())
        reply: Any = board.link.call("EVAL", _READ, len(names), *keys.all())
        self.strange = set(reply[0]) - set(keys.all())
        raw = dict(zip(names, reply[1:], strict=True))
        pairs = {name: dict(zip(raw[name][::2], raw[name][1::2], strict=True)) for name in names if name != "events"}
        self.meta: dict[str, str] = pairs["meta"]
        self.hash = {name: {k: json.loads(v) for k, v in pairs[name].items()} for name in RECORDS}
        self.labels: dict[str, str] = pairs["labels"]
        self.pause: dict[str, str] = pairs["pause"]
        self.policies = {name: json.loads(text) for name, text in pairs["policies"].items()}
        self.lexical = {name: set(pairs[name]) for name in LEXICAL}
        self.scored = {name: {k: int(float(v)) for k, v in pairs[name].items()} for name in SCORED}
        self.zero = all(float(score) == 0 for name in LEXICAL for score in pairs[name].values())
        self.events = [dict(zip(fields[::2], fields[1::2], strict=True)) for _, fields in raw["events"]]

    @property
    def jobs(self) -> dict[str, dict[str, Any]]:
        return self.hash["jobs"]

    def plain(self) -> dict[str, Any]:
        """What is compared with the model."""
        meta = {name: int(self.meta.get(name, 0)) for name in ("settleUntil", "lastOp", "lastBeat", "movedAt", "lease")}
        return {
            **{f"meta.{name}": value for name, value in meta.items()},
            "meta.epoch": self.meta.get("epoch", ""),
            "jobs": {id: _record(job) for id, job in self.jobs.items()},
            "ended": {id: _ended(how) for id, how in self.hash["ended"].items()},
            "limits": {name[2:]: _limits(terms) for name, terms in self.hash["limits"].items() if name[0] == "q"},
            "policies": list(self.policies)
            and sorted(self.policies, key=lambda name: self.policies[name]["registered"]),
            **self.lexical,
            **self.scored,
        }


def _record(job: dict[str, Any]) -> dict[str, Any]:
    names = (
        "queue lane owner policy machine process parent queuedAt state inside startedAt limitMs killBy killReason pids"
    )
    numbers = {name: int(job[name]) if name in job else None for name in ("ticket", "fence")}
    return {**{name: job.get(name) for name in names.split()}, **numbers}


def _ended(how: dict[str, Any]) -> dict[str, Any]:
    fence = int(how["fence"]) if "fence" in how else None
    return {**{name: how.get(name, "") for name in ("how", "cause", "by", "at", "instance")}, "fence": fence}


def _limits(terms: dict[str, Any]) -> dict[str, Any]:
    lanes = {name: {"max": None, **lane} for name, lane in terms["lanes"].items()}
    return {"timeLimitMs": None, "limitedBy": None, **terms, "lanes": lanes}


def expected(model: Rules) -> dict[str, Any]:
    """What `Picture.plain` must be."""
    jobs = model.jobs.values()
    queues = {queue for said in model.policies.values() for queue in said.get("queues", {})}
    return {
        "meta.settleUntil": model.settle_until,
        "meta.lastOp": model.last_op,
        "meta.lastBeat": model.last_beat,
        "meta.movedAt": model.moved_at,
        "meta.lease": model.lease,
        "meta.epoch": model.epoch,
        "jobs": {job.id: _as_record(job) for job in jobs},
        "ended": {
            id: {"how": e.how, "cause": e.cause, "by": e.by, "at": e.at, "instance": e.instance, "fence": e.fence}
            for id, e in model.ended.items()
        },
        "limits": {queue: model.terms(queue) for queue in queues},
        "policies": list(model.policies),
        "waiting": {member for job in jobs if job.state == "waiting" for member in places(job)},
        "running": {member for job in jobs if job.holds for member in places(job)},
        "turns": {_turn(model, job) for job in jobs if job.state == "waiting" and _fair(model, job)},
        "nest": {f"c|{job.parent}|{job.id}" for job in jobs if job.parent}
        | {f"i|{job.inside}|{job.id}" for job in jobs if job.inside},
        "policyUse": {f"{job.policy}|j|{job.id}" for job in jobs},
        "leases": {f"j|{job.id}": job.lease for job in jobs},
        "deadlines": {f"grant|{job.id}": job.deadline for job in jobs if job.deadline is not None},
        "served": {"|".join(key): fence for key, fence in model.served.items()},
        "endedAt": {id: how.at for id, how in model.ended.items()},
    }


def _as_record(job: Job) -> dict[str, Any]:
    return {
        "queue": job.queue, "lane": job.lane, "owner": job.owner, "policy": job.policy, "machine": job.machine,
        "process": job.process, "parent": job.parent, "queuedAt": job.queued_at, "state": job.state,
        "inside": job.inside, "startedAt": job.started_at, "limitMs": job.limit_ms, "killBy": job.kill_by,
        "killReason": job.kill_reason, "pids": job.pids, "ticket": job.ticket, "fence": job.fence,
    }  # fmt: skip


def places(job: Job) -> tuple[str, str]:
    """A job's two members in `waiting` or `running`."""
    return (
        f"q|{job.queue}|{job.lane}|{job.ticket:016d}|{job.id}",
        f"o|{job.queue}|{job.lane}|{job.owner}|{job.ticket:016d}|{job.id}",
    )


def _fair(model: Rules, job: Job) -> bool:
    """Only under fair share do owners take turns."""
    return (model.terms(job.queue) or {}).get("order") == "fair-share"


def _turn(model: Rules, job: Job) -> str:
    running, served, owner = model.turn(job)
    return f"{job.queue}|{job.lane}|{running:06d}|{served:016d}|{owner}"
