"""What there is to warn of on a board, as {code, text}."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coord import __version__
from coord.names import clean

if TYPE_CHECKING:
    from coord.config.settings import Settings
    from coord.view.reading import Reading

Caution = dict[str, str]


def caution(code: str, text: str) -> Caution:
    return {"code": code, "text": text}


def cautions(reading: Reading, settings: Settings, picture: dict[str, Any]) -> list[Caution]:
    """All of them, in the order in which they are shown."""
    over_queues = [_over_queue(name, queue, reading) for name, queue in picture["queues"].items()]
    over_pools = [_over_pool(name, pool) for name, pool in picture["pools"].items()]
    return [
        *_settling(reading),
        *_differing(reading, settings),
        *_versions(reading),
        *filter(None, over_pools),
        *filter(None, over_queues),
        *_sessions(reading),
        *_lost(reading),
    ]


def _settling(reading: Reading) -> list[Caution]:
    if not reading.settle_ms:
        return []
    left = f"{reading.settle_ms / 1000:.1f} s"
    return [
        caution(
            "settling", f"the board is new: for {left} more it grants nothing, so that what runs can come back first"
        )
    ]


def _differing(reading: Reading, settings: Settings) -> list[Caution]:
    """Configurations in use that are not the same; the caller's counts when it has a file."""
    users = {one.get("policy") for one in (*reading.jobs.values(), *reading.sessions.values())}
    live = {name: policy for name, policy in reading.policies.items() if name in users and not policy.get("fallback")}
    sources = {name: clean(policy.get("source") or "?") for name, policy in live.items()}
    if settings.path is not None and live and '"fallback":true' not in settings.policy_json:
        sources.setdefault(settings.policy, clean(settings.path))
    if len(sources) < 2:
        return []
    files = sorted(set(sources.values()))
    what = ", ".join(files) if len(files) > 1 else f"{files[0]} (it was changed meanwhile)"
    return [caution("policiesDiffer", f"configurations differ, the lowest limits count: {what}")]


def _versions(reading: Reading) -> list[Caution]:
    """Sessions of another omp-coord than the one that looks."""
    others: dict[str, list[str]] = {}
    for one in reading.sessions.values():
        version = clean(str(one.get("version") or ""))
        if version and version != __version__:
            others.setdefault(version, []).append(clean(one["label"]))
    what = "; ".join(f"{version} in {named('session', labels)}" for version, labels in sorted(others.items()))
    return [caution("versionsDiffer", f"this is omp-coord {__version__}, but {what}: start them anew")] if what else []


def _over_pool(name: str, pool: dict[str, Any]) -> Caution | None:
    if not pool["overBy"]:
        return None
    run = f"{pool['used']} run, {pool['effectiveCap']} may"
    text = f"the pool {name} is over cap by {pool['overBy']} ({run}): nothing is approved until under"
    return caution("overCap", text)


def _over_queue(name: str, queue: dict[str, Any], reading: Reading) -> Caution | None:
    """A job inside the slot of an ancestor takes none of its own."""
    used = sum(1 for job in queue["running"] if not reading.jobs[job["id"]].get("inside"))
    over = used - queue["effectiveSlots"]
    if over <= 0:
        return None
    run = f"{used} run, {queue['effectiveSlots']} may"
    return caution("overCap", f"the queue {name} is over cap by {over} ({run}): nothing is granted until under")


def _sessions(reading: Reading) -> list[Caution]:
    """Sessions that do not beat. Those of another machine are dropped when their lease lapses, others never by age."""
    found = []
    for id, one in reading.sessions.items():
        label = f"session {clean(one['label'])} ({clean(one.get('cwd') or '?')})"
        if one.get("bridgeLostAt"):
            text = f"the bridge of {label} is gone: unless another one comes within a minute the session ends"
            found.append(caution("bridgeLost", text))
        elif id in reading.late:
            found.append(
                caution("late", f"{label} has not been heard of for some seconds: it is stopped, or very busy")
            )
    return found


def _lost(reading: Reading) -> list[Caution]:
    return [
        caution(
            "orphaned",
            f"the runner of job {clean(id)} ({clean(job['queue'])}) is gone, its command still has the slot: "
            f"{_processes(job)}; `omp-coord queue cancel {clean(id)} --kill` ends it",
        )
        for id, job in reading.jobs.items()
        if job["state"] == "orphaned"
    ]


def _processes(job: dict[str, Any]) -> str:
    pids = job.get("pids") or []
    return f"process{'es' if len(pids) > 1 else ''} {', '.join(map(str, pids)) or '?'}"


def named(what: str, labels: list[str]) -> str:
    """`session A`, `sessions A, B`."""
    return f"{what}{'s' if len(labels) > 1 else ''} {', '.join(labels)}"
