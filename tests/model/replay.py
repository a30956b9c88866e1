"""Replays the event stream: what it gives must be the jobs, lines and slots that stand on the board."""

from __future__ import annotations

from typing import Any

Jobs = dict[str, dict[str, Any]]


def replay(events: list[dict[str, str]]) -> Jobs:
    """The jobs by id, from the first event of a board to the last."""
    jobs: Jobs = {}
    for event in events:
        _KINDS.get(event["type"], _nothing)(jobs, event)
    return jobs


def _nothing(jobs: Jobs, event: dict[str, str]) -> None:
    assert event["type"] in ("board_made", "board_settled", "policy_registered", "job_kill_asked", "stale_call"), event[
        "type"
    ]


def _queued(jobs: Jobs, event: dict[str, str]) -> None:
    jobs[event["job"]] = {
        **{name: event[name] for name in ("queue", "lane", "owner", "ticket")},
        "state": "waiting", "fence": None, "inside": None, "waits": True, "holds": False,
    }  # fmt: skip


def _takes(jobs: Jobs, event: dict[str, str], state: str) -> None:
    inside = event.get("inside") or None
    jobs[event["job"]] |= {
        "state": state,
        "fence": event["fence"],
        "inside": inside,
        "waits": False,
        "holds": not inside,
    }


def _away(jobs: Jobs, event: dict[str, str]) -> None:
    jobs[event["job"]] |= {"state": "away", "fence": None, "waits": False, "holds": False}


def _back(jobs: Jobs, event: dict[str, str]) -> None:
    jobs[event["job"]] |= {"state": "waiting", "waits": True}


def _state(jobs: Jobs, event: dict[str, str], state: str) -> None:
    jobs[event["job"]]["state"] = state


def _returns(jobs: Jobs, event: dict[str, str]) -> None:
    _queued(jobs, event)
    if event["state"] != "waiting":
        _takes(jobs, event, event["state"])


def _inherits(jobs: Jobs, event: dict[str, str]) -> None:
    """The slot of an ended job is now held by one that ran inside it; the others run inside that one."""
    for job in jobs.values():
        if job["inside"] == event["from"]:
            job["inside"] = event["job"]
    jobs[event["job"]] |= {"inside": None, "holds": True}


def _ends(jobs: Jobs, event: dict[str, str]) -> None:
    del jobs[event["job"]]


_KINDS = {
    "job_queued": _queued,
    "job_granted": lambda jobs, event: _takes(jobs, event, "granted"),
    "job_started": lambda jobs, event: _takes(jobs, event, "running"),
    "job_away": _away,
    "job_back": _back,
    "job_stopped": lambda jobs, event: _state(jobs, event, "stopped"),
    "job_continued": lambda jobs, event: _state(jobs, event, "running"),
    "job_orphaned": lambda jobs, event: _state(jobs, event, "orphaned"),
    "job_inherited": _inherits,
    "reregistered": _returns,
    "job_finished": _ends,
    "job_lost": _ends,
    "job_cancelled": _ends,
}
