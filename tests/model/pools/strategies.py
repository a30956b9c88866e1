"""What random histories of sessions are made of: policies with pools, agent types, and small numbers that pick."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

anyone = st.integers(0, 999)
rarely = st.sampled_from((False,) * 7 + (True,))
machines = st.sampled_from(("m1", "m1", "m1", "m2"))
types = st.sampled_from(("task",) * 6 + ("review", "Reviewer", "quick", "lint", "sub"))
moments = st.one_of(st.integers(1, 600), st.integers(600, 5500), st.integers(5000, 16000), st.just(61_000))
setbacks = st.one_of(st.integers(1, 1000), st.integers(1001, 5000), st.just(100_000))
mistakes = st.sampled_from(("",) * 5 + ("pid", "start", "instance"))
sleeps = st.sampled_from((60_000, 1_000_000, 3_600_000))
reasons = st.sampled_from(("exit", "signal", "new", "switch", "branch"))
loads = st.sampled_from((0.5, 3, 5))

_caps = st.lists(st.tuples(st.sampled_from((2, 4)), st.integers(0, 2)).map(list), min_size=1, max_size=2)
_pool = st.fixed_dictionaries({"cap": st.sampled_from((1, 1, 2, 3))}, optional={"loadCaps": _caps})
_queue = st.fixed_dictionaries({"slots": st.sampled_from((1, 2))})


@st.composite
def _file(draw: st.DrawFn) -> dict[str, Any]:
    pools = draw(st.fixed_dictionaries({"work": _pool}, optional={"review": _pool, "quick": _pool}))
    globs = {"work": ["*"], "review": ["review*"], "quick": ["quick", "*t"]}
    named = [{"name": name, "types": globs[name]} for name in draw(st.permutations(sorted(pools))) if name != "work"]
    agents: dict[str, Any] = {"pools": [*named, {"name": "work", "types": draw(st.sampled_from(([], ["task"])))}]}
    agents |= {"defaultPool": "work"} if draw(st.sampled_from((True, True, True, False))) else {}
    agents |= {"exempt": ["lint"]} if draw(st.booleans()) else {}
    nested = st.fixed_dictionaries({"types": st.just(["review*"]), "maxRunningPerParent": st.integers(1, 2)})
    agents |= {"nested": draw(nested)} if draw(st.booleans()) else {}
    agents |= {"holdMs": draw(st.sampled_from((3000, 60_000))), "startTimeoutMs": draw(st.sampled_from((2000, 30_000)))}
    lease = {"leaseMs": draw(st.sampled_from((6000, 20_000)))} if draw(rarely) else {}
    return {"queues": {"q": draw(_queue)}, "pools": pools, "agents": agents, **lease}


_no_file: dict[str, Any] = {"source": "", "fallback": True, "queues": {"q": {"slots": 1}}}


def _named(files: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    named = {f"p{i}": {**said, "source": f"file{i}"} for i, said in enumerate(files)}
    return {**named, f"p{len(files)}": _no_file}


policies = st.lists(_file(), min_size=1, max_size=3).map(_named)
"""Some files' policies and that of sessions without a file, by name."""
