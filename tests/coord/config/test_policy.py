"""What the board gets of a configuration."""

from __future__ import annotations

import json
from typing import Any

from coord.config.models import Config
from coord.config.policy import flatten, policy_hash, policy_of
from coord.config.settings import FALLBACK_POLICY, FALLBACK_POLICY_JSON, LEASE_MS


def config(**fields: Any) -> Config:
    return Config.model_validate({"scope": "s", **fields})


def flat(source: str = "/p", **fields: Any) -> dict[str, Any]:
    return flatten(config(**fields), source, b"content")


def test_the_policy_says_caps_slots_orders_lanes_and_limits() -> None:
    """Exactly what the board needs goes there, with sorted keys and no blanks."""
    text = flat(
        queues={
            "b": {"slots": 2, "timeLimit": "10m", "loadCaps": [{"load": 12, "slots": 1}]},
            "a": {"slots": 3, "order": "fair-share", "lanes": {"l": {"reserved": 1, "max": 2}, "m": {}}},
        },
        agents={"pools": {"work": {"cap": 2, "types": ["x"], "loadCaps": [{"load": 1.5, "cap": 0}]}}},
        leaseSeconds=2.5,
    )["policyJson"]
    assert json.loads(text) == {
        "leaseMs": 2500,
        "source": "/p",
        "pools": {"work": {"cap": 2, "loadCaps": [[1.5, 0]]}},
        "agents": {
            "pools": [{"name": "work", "types": ["x"]}],
            "defaultPool": "work",
            "exempt": ["reviewer"],
            "nested": {"types": ["reviewer"], "maxRunningPerParent": 1},
            "holdMs": 300_000,
            "startTimeoutMs": 120_000,
            "queueSpawns": True,
        },
        "queues": {
            "a": {
                "slots": 3,
                "order": "fair-share",
                "lanes": {"l": {"priority": 0, "reserved": 1, "max": 2}, "m": {"priority": 0, "reserved": 0}},
            },
            "b": {"slots": 2, "order": "fifo", "timeLimitMs": 600_000, "loadCaps": [[12, 1]]},
        },
    }
    assert text == json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"))


def test_nothing_empty_is_sent() -> None:
    """An empty table has no clear JSON on the board, so an empty map or list is left out."""
    data = flat(queues={"q": {"slots": 1}}, agents={"pools": {"p": {"cap": 0}}})
    assert "{}" not in data["policyJson"]
    assert "[]" not in data["policyJson"]
    assert json.loads(flat(agents={"exempt": []})["policyJson"]) == {
        "leaseMs": 10_000, "source": "/p",
        "agents": {"holdMs": 300_000, "startTimeoutMs": 120_000, "queueSpawns": True, "nested": {"maxRunningPerParent": 1}},
    }  # fmt: skip


def test_the_rules_for_agents() -> None:
    """Pools keep the file's order, which decides among several that match; globs are lower-cased; times are in ms."""
    pools = {"z": {"cap": 1, "types": ["Big*"]}, "a": {"cap": 2}, "m": {"cap": 3, "types": ["B"]}}
    nested = {"types": ["Sub-*"], "maxRunningPerParent": 0}
    data = flat(
        agents={
            "pools": pools, "defaultPool": "a", "exempt": ["Re*"], "nested": nested, "holdMinutes": 0.5,
            "startTimeoutSeconds": 1.5, "queueSpawns": False,
        }
    )  # fmt: skip
    assert json.loads(data["policyJson"])["agents"] == {
        "pools": [{"name": "z", "types": ["big*"]}, {"name": "a"}, {"name": "m", "types": ["b"]}],
        "defaultPool": "a",
        "exempt": ["re*"],
        "nested": {"types": ["sub-*"], "maxRunningPerParent": 0},
        "holdMs": 30_000,
        "startTimeoutMs": 1500,
        "queueSpawns": False,
    }
    assert data["agents"] == (False, ["z", "a", "m"], 30_000)
    assert flat(agents={"pools": pools})["policy"] != flat(agents={"pools": dict(reversed(pools.items()))})["policy"]


def test_the_hash_is_of_the_content_and_not_of_the_place() -> None:
    """Two checkouts of one file are one policy; another cap is another."""
    here, there = flat("/a", queues={"q": {"slots": 1}}), flat("/b", queues={"q": {"slots": 1}})
    assert here["policy"] == there["policy"]
    assert here["policyJson"] != there["policyJson"]
    assert len(here["policy"]) == 16
    assert flat(queues={"q": {"slots": 2}})["policy"] != here["policy"]


def test_what_is_no_policy_does_not_change_the_hash() -> None:
    """Rules for commands, ports and the like are no concern of the board's limits."""
    assert flat(messages={"perMinute": 3})["policy"] == flat()["policy"]


def test_the_fallback_is_spelt_right() -> None:
    """The constants for "no file" are what would be computed for them."""
    fallback = {"fallback": True, "leaseMs": LEASE_MS}
    assert json.loads(FALLBACK_POLICY_JSON) == {**fallback, "source": ""}
    assert policy_hash(fallback) == FALLBACK_POLICY
    assert policy_hash(policy_of(config())) != FALLBACK_POLICY


def test_a_path_that_is_no_utf8_can_be_sent() -> None:
    """The source is shown as well as it can be."""
    assert "\\ufffd" in flat("/p/\udcff")["policyJson"] or "?" in flat("/p/\udcff")["policyJson"]
