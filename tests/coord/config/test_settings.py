"""The queues and lanes of settings, and the settings of a folder without a file."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from coord.config.settings import Settings
from coord.errors import ConfigError
from coord.home import Home

FILE = """{
  "scope": "demo", // the name
  "queues": {
    "build": { "slots": 1, "timeLimit": "10m", "leftovers": "kill", "lanes": { "quick": { "priority": 5 } } },
    "lint": { "slots": 2, "order": "fair-share" },
  },
  "leaseSeconds": 4,
}"""

Write = Callable[..., Path]
Load = Callable[..., Settings]


def test_a_known_queue_and_lane(write: Write, settings: Load) -> None:
    """The default lane always exists, others when the file has them."""
    write(FILE)
    loaded = settings()
    assert loaded.queue("build").slots == 1
    assert loaded.queue("build", "quick").name == "build"
    assert loaded.queue("lint", "default").slots == 2


def test_an_unknown_queue_or_lane_lists_the_known_ones(write: Write, settings: Load) -> None:
    """One line: the nearest spelling and all that there are."""
    write(FILE)
    with pytest.raises(ConfigError, match=r'no queue "biuld"\. Did you mean "build"\? Known: build, lint\.'):
        settings().queue("biuld")
    with pytest.raises(ConfigError, match=r'no lane "quik" of the queue "build".*"quick".*quick, default'):
        settings().queue("build", "quik")
    with pytest.raises(ConfigError) as caught:
        settings().queue("\x1b[31m\n")
    assert str(caught.value).isprintable()


def test_a_file_without_queues_says_so(write: Write, settings: Load) -> None:
    """There is nothing to list, so the text says where to add one."""
    write('{"scope": "s"}')
    with pytest.raises(ConfigError, match="no queues yet"):
        settings().queue("build")


def test_without_a_file_every_name_is_a_queue_of_one_slot(settings: Load) -> None:
    """The command line works with no configuration; bad names are refused all the same."""
    loaded = settings()
    assert loaded.path is None
    queue = loaded.queue("anything")
    assert (queue.name, queue.slots, queue.order, queue.time_limit_ms) == ("anything", 1, "fifo", None)
    assert json.loads(loaded.policy_json)["fallback"] is True
    name, policy = loaded.policy_for("anything")
    assert (name, json.loads(policy)["queues"]) == ("no-file-anything", {"anything": {"slots": 1}})
    with pytest.raises(ConfigError, match="The queue"):
        loaded.queue("a b")
    with pytest.raises(ConfigError, match="no lane"):
        loaded.queue("anything", "any")
    with pytest.raises(ConfigError, match="The lane"):
        loaded.queue("a", "")


def test_the_hint_comes_once_a_day_per_scope(
    settings: Load, folder: Path, env: dict[str, str], home: Home, write: Write
) -> None:
    """`init` is pointed at once; again after a day; not in CI; not with a file."""
    env["CI"] = "true"
    assert settings().hint is None
    del env["CI"]
    assert "omp-coord init" in (settings().hint or "")
    assert settings().hint is None
    assert settings(scope="other").hint is not None
    for mark in Path(home.cache()).glob("hint-*"):
        os.utime(mark, (time.time() - 86_500,) * 2)
    assert settings().hint is not None
    write(FILE)
    assert settings().hint is None


def test_what_a_session_must_know_of_agents(write: Write, settings: Load) -> None:
    """The pools in the file's order, the time of a hold, and whether spawns may wait; from the cache as from the file."""
    write(
        '{"scope": "s", "agents": {"pools": {"z": {"cap": 1}, "a": {"cap": 1}}, "holdMinutes": 1, "queueSpawns": false}}'
    )
    for _ in range(2):
        rules = settings().agents
        assert (rules.pools, rules.hold_ms, rules.queue_spawns) == (["z", "a"], 60_000, False)


def test_what_a_session_must_know_of_commands(write: Write, settings: Load) -> None:
    """The rules in the file's order, and whether commands are tagged; from the cache as from the file."""
    assert (settings().commands.rules, settings().commands.tag) == ([], False)
    write(
        """{"scope": "s", "queues": {"q": {"slots": 1, "lanes": {"l": {}}}}, "tagAgentCommands": true, "commands": [
          {"pattern": "z", "action": "queue", "queue": "q", "lane": "l"},
          {"pattern": "a", "action": "refuse", "reason": "no"},
          {"pattern": "b", "action": "queue", "queue": "q"}]}"""
    )
    for _ in range(2):
        rules = settings().commands
        assert rules.rules == [("z", "queue", "q", "l"), ("a", "refuse", "no", None), ("b", "queue", "q", None)]
        assert rules.tag is True


def test_without_a_file_there_are_no_pools(settings: Load) -> None:
    """Agents are not capped then, and there is nothing to wait for."""
    rules = settings().agents
    assert (rules.pools, rules.queue_spawns) == ([], True)
