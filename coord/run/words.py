"""The runner's sentences about other jobs and processes. Whatever came from others is cleaned of control characters."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from coord.answers import Busy, Waiting
    from coord.run.job import Job
    from coord.run.processes import Proc


def obstacle(answer: Waiting | Busy | None) -> str:
    """What stands in the way of a slot, for one line: who holds them, or why none is granted."""
    from coord.names import clean

    if answer is None:
        return "the server is away"
    jobs = answer.holders
    names = [clean(str(job.get("label") or job.get("command") or job["id"])) for job in jobs[:3]]
    more = f" and {len(jobs) - 3} more" if len(jobs) > 3 else ""
    if names:
        return "held by " + ", ".join(names) + more
    reasons = {"settling": "the board is settling", "paused": "the scope is paused"}
    return reasons.get(answer.cause, "no slot may be used now; `omp-coord status` shows what limits the queue")


def cancelled(job: Job) -> str:
    from coord.names import clean

    ended = job.ended
    by = f" by {clean(ended.by)}" if ended and ended.by else ""
    why = f": {clean(ended.cause)}" if ended and ended.cause else ""
    return f"the wait for {job.queue} was cancelled{by}{why}"


def named(left: list[Proc]) -> str:
    shown = ", ".join(f"{proc.pid} {proc.name}" for proc in left[:8])
    return shown + (f" and {len(left) - 8} more" if len(left) > 8 else "")
