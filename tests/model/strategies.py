"""What random histories are made of: policies, and small numbers that pick runners and places."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

anyone = st.integers(0, 999)
rarely = st.sampled_from((False,) * 7 + (True,))
machines = st.sampled_from(("m1", "m1", "m1", "m2"))
loads = st.sampled_from((0.5, 2, 3, 4, 5))
waits = st.sampled_from((True, True, True, False))
moments = st.one_of(st.integers(1, 1500), st.integers(1500, 5500), st.integers(5000, 16000))
setbacks = st.one_of(st.integers(1, 1000), st.integers(1001, 5000), st.just(100_000))
mistakes = st.sampled_from(("",) * 5 + ("pid", "start", "instance"))
sleeps = st.sampled_from((60_000, 1_000_000, 3_600_000, 30_000_000))

_lanes = st.fixed_dictionaries(
    {"priority": st.sampled_from((0, 0, 0, 1, -1)), "reserved": st.integers(0, 1)}, optional={"max": st.integers(1, 2)}
)
_caps = st.lists(st.tuples(st.sampled_from((2, 4)), st.integers(0, 2)).map(list), min_size=1, max_size=2)
_queues = st.fixed_dictionaries(
    {
        "slots": st.sampled_from((1, 2, 3, 4)),
        "order": st.sampled_from(("fifo", "fair-share")),
        "lanes": st.dictionaries(st.sampled_from(("a", "b")), _lanes, min_size=1),
    },
    optional={"timeLimitMs": st.sampled_from((60000, 90000)), "loadCaps": _caps},
)
_files = st.fixed_dictionaries(
    {"source": st.just("test"), "queues": st.dictionaries(st.sampled_from(("q", "r")), _queues, min_size=1)},
    optional={"leaseMs": st.sampled_from((2000, 6000, 20000))},
)
_no_file: dict[str, Any] = {"source": "", "fallback": True, "queues": {"q": {"slots": 1}, "s": {"slots": 1}}}


def _named(files: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {f"p{i}": said for i, said in enumerate([*files, _no_file])}


policies = st.lists(_files, min_size=1, max_size=3).map(_named)
"""Some files' policies and that of runs without a file, by name."""
