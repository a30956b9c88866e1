"""What a configuration may say, and how each error reads."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coord.config.models import Config
from coord.config.validate import SHOWN_FINDINGS, Finding, InvalidConfig, validate
from coord.names import clean


def read(text: str | dict[str, Any]) -> Config:
    text = text if isinstance(text, str) else json.dumps({"scope": "s", **text})
    return validate("/p/.omp-coord.json", text.encode())


def findings(text: str | dict[str, Any]) -> list[Finding]:
    with pytest.raises(InvalidConfig) as caught:
        read(text)
    return caught.value.findings


def test_defaults() -> None:
    """A file that only names its scope has the documented defaults."""
    config = read({})
    assert config.redis.url is None
    assert config.agents.pools == {}
    assert config.agents.first_choice is None
    assert config.agents.exempt == ["reviewer"]
    assert config.agents.nested_types == ["reviewer"]
    assert config.agents.nested.max_running_per_parent == 1
    assert (config.agents.hold_minutes, config.agents.start_timeout_seconds) == (5, 120)
    assert config.agents.queue_spawns is True
    assert config.queues == {}
    assert config.commands == []
    assert config.tag_agent_commands is False
    assert config.claims.enforce is True
    assert config.messages.per_minute == 10
    assert config.resources.ports is None
    assert config.resources.scratch is False
    assert config.history.retention_days == 30
    assert config.lease_seconds == 10


def test_an_endless_key_is_shown_short() -> None:
    """An error stays a line that can be read."""
    (found,) = findings({"queues": {"q" * 70_000: {"slots": 1}}})
    assert len(str(InvalidConfig("/p/.omp-coord.json", [found]))) < 400


def test_a_queue_has_defaults_too() -> None:
    """Only slots must be given."""
    queue = read({"queues": {"q": {"slots": 2, "lanes": {"l": {}}}}}).queues["q"]
    assert (queue.order, queue.time_limit, queue.leftovers, queue.load_caps) == ("fifo", None, "keep", [])
    assert (queue.lanes["l"].priority, queue.lanes["l"].reserved, queue.lanes["l"].max) == (0, 0, None)


def test_everything_can_be_said() -> None:
    """Every field takes what the table of the documentation allows."""
    config = read(
        {
            "$schema": "https://example.org/schema.json",
            "redis": {"url": "redis+sentinel://a:1,b:2/main"},
            "agents": {
                "pools": {
                    "big": {"cap": 0, "types": ["Task*"], "loadCaps": [{"load": 1.5, "cap": 0}]},
                    "x": {"cap": 3},
                },
                "defaultPool": "x",
                "exempt": [],
                "nested": {"types": ["Scout"], "maxRunningPerParent": 0},
                "holdMinutes": 0.5,
                "startTimeoutSeconds": 3600,
                "queueSpawns": False,
            },
            "queues": {
                "q": {
                    "slots": 3,
                    "order": "fair-share",
                    "lanes": {"quick": {"priority": 10, "reserved": 1, "max": 2}},
                    "timeLimit": "1h30m",
                    "leftovers": "wait",
                    "loadCaps": [{"load": 8, "slots": 1}],
                }
            },
            "commands": [
                {"pattern": "rm -rf /", "action": "refuse", "reason": "no"},
                {"pattern": "^make", "action": "queue", "queue": "q", "lane": "quick"},
                {"pattern": "^just", "action": "queue", "queue": "q", "lane": "default"},
            ],
            "tagAgentCommands": True,
            "claims": {"enforce": False},
            "messages": {"perMinute": 1},
            "resources": {"ports": {"from": 20000, "to": 20999, "perSession": 20}, "scratch": True},
            "history": {"retentionDays": 1},
            "leaseSeconds": 2,
        }
    )
    assert config.agents.pools["big"].types == ["task*"]  # types are compared lower-cased
    assert config.agents.first_choice == "x"
    assert config.agents.nested_types == ["scout"]
    assert config.queues["q"].lanes["quick"].reserved == 1


def test_the_first_pool_is_the_default() -> None:
    """Without `defaultPool` the order of the file decides."""
    assert read({"agents": {"pools": {"b": {"cap": 1}, "a": {"cap": 1}}}}).agents.first_choice == "b"


QUEUE = {"slots": 2}
WRONG = [
    ({"scope": "a b"}, "scope", 'found "a b"; allowed is 1 to 64 ASCII letters'),
    ({"scope": "x" * 65}, "scope", "1 to 64"),
    ({"queues": {"q": {"slots": 0}}}, "queues.q.slots", "found 0; allowed is a number of at least 1"),
    ({"queues": {"q": {"slots": "2"}}}, "queues.q.slots", 'found "2"; allowed is a whole number'),
    ({"queues": {"q": {"slots": 2.5}}}, "queues.q.slots", "found 2.5; allowed is a whole number"),
    ({"queues": {"q": {"slots": True}}}, "queues.q.slots", "found true; allowed is a whole number"),
    ({"queues": {"q": {"slots": 1e6 + 1}}}, "queues.q.slots", "whole number"),
    ({"queues": {"q": {"slots": 10**7}}}, "queues.q.slots", "at most 999999"),
    ({"queues": {"q": {}}}, "queues.q.slots", "required, but missing"),
    ({"queues": {"q": 3}}, "queues.q", "found 3; allowed is an object"),
    ({"queues": []}, "queues", "found a list; allowed is an object"),
    ({"queues": {"q!": QUEUE}}, "queues.q!", 'found "q!"; allowed is a name of'),
    ({"queues": {"": QUEUE}}, "queues.", "allowed is a name of"),
    ({"queues": {"q": {"slots": 1, "order": "lifo"}}}, "queues.q.order", '"fifo" or "fair-share"'),
    ({"queues": {"q": {"slots": 1, "leftovers": 1}}}, "queues.q.leftovers", '"keep", "kill" or "wait"'),
    ({"queues": {"q": {"slots": 1, "timeLimit": "10x"}}}, "queues.q.timeLimit", "a duration such as"),
    ({"queues": {"q": {"slots": 1, "timeLimit": "0"}}}, "queues.q.timeLimit", "a duration such as"),
    ({"queues": {"q": {"slots": 1, "timeLimit": 600}}}, "queues.q.timeLimit", "a text in double quotes"),
    ({"queues": {"q": {"slots": 1, "lanes": {"l": {"reserved": 2}}}}}, "queues.q", "more than slots (1)"),
    (
        {"queues": {"q": {"slots": 9, "lanes": {"l": {"reserved": 2, "max": 1}}}}},
        "queues.q.lanes.l",
        "reserved is more than max (1)",
    ),
    ({"queues": {"q": {"slots": 1, "lanes": {"l": {"max": 0}}}}}, "queues.q.lanes.l.max", "at least 1"),
    (
        {"queues": {"q": {"slots": 1, "loadCaps": [{"load": 1, "cap": 1}]}}},
        "queues.q.loadCaps[0].cap",
        "unknown",
    ),
    ({"agents": {"pools": {"p": {"cap": -1}}}}, "agents.pools.p.cap", "at least 0"),
    ({"agents": {"pools": {"p": {"cap": 1, "types": [""]}}}}, "agents.pools.p.types[0]", "not empty"),
    ({"agents": {"pools": {"work": {"cap": 1}}, "defaultPool": "wrk"}}, "agents.defaultPool", '"work"?'),
    ({"agents": {"defaultPool": "x"}}, "agents.defaultPool", "Known: none"),
    ({"agents": {"holdMinutes": 0}}, "agents.holdMinutes", "above 0"),
    ({"agents": {"startTimeoutSeconds": 3601}}, "agents.startTimeoutSeconds", "at most 3600"),
    ({"agents": {"exempt": "x"}}, "agents.exempt", 'found "x"; allowed is a list'),
    ({"leaseSeconds": 1.9}, "leaseSeconds", "at least 2"),
    ({"leaseSeconds": 601}, "leaseSeconds", "at most 600"),
    ({"messages": {"perMinute": 0}}, "messages.perMinute", "at least 1"),
    ({"claims": {"enforce": "yes"}}, "claims.enforce", "true or false"),
    ({"resources": {"ports": {"from": 1, "to": 3, "perSession": 9}}}, "resources.ports", "fewer ports than"),
    ({"resources": {"ports": {"from": 9, "to": 3, "perSession": 1}}}, "resources.ports", "fewer ports than"),
    ({"resources": {"ports": {"from": 0, "to": 70000}}}, "resources.ports.perSession", "required"),
    ({"commands": [{"pattern": "(", "action": "refuse", "reason": "r"}]}, "commands[0].pattern", "missing )"),
    ({"commands": [{"pattern": "a", "action": "refuse"}]}, "commands[0].reason", "required"),
    ({"commands": [{"pattern": "a", "action": "go"}]}, "commands[0]", '"action": "refuse" or "queue"'),
    ({"commands": [{"pattern": "a"}]}, "commands[0]", '"action": "refuse" or "queue"'),
    ({"commands": ["x"]}, "commands[0]", "an object"),
    (
        {"queues": {"build": QUEUE}, "commands": [{"pattern": "a", "action": "queue", "queue": "biuld"}]},
        "commands[0].queue",
        'Did you mean "build"? Known: build',
    ),
    (
        {
            "queues": {"q": {"slots": 1, "lanes": {"quick": {}}}},
            "commands": [{"pattern": "a", "action": "queue", "queue": "q", "lane": "qick"}],
        },
        "commands[0].lane",
        'Did you mean "quick"? Known: quick, default',
    ),
    ({"redis": {"url": "http://h"}}, "redis.url", "not a server URL"),
    ({"redis": {"url": "redis://${A"}}, "redis.url", "name of a variable"),
    ({"redis": {"url": "${A B}"}}, "redis.url", "name of a variable"),
    ({"redis": {"url": ""}}, "redis.url", "not empty"),
    ({"runs": {"maxActivePerSession": 1}}, "runs", "unknown key"),
]


@pytest.mark.parametrize(("part", "path", "says"), WRONG)
def test_what_is_wrong_is_named_with_its_path(part: dict[str, Any], path: str, says: str) -> None:
    """Each error names the field, what was found and what is allowed, in one clean line."""
    found = {finding.path: finding.text for finding in findings(part)}
    assert path in found
    assert says in found[path]
    assert found[path].isprintable()


UNKNOWN = [
    ({"qeues": {}}, "qeues", "queues"),
    ({"Scope": "x"}, "Scope", "scope"),
    ({"lease_seconds": 3}, "lease_seconds", "leaseSeconds"),
    ({"queues": {"q": {"slots": 1, "slot": 1}}}, "queues.q.slot", "slots"),
    ({"queues": {"q": {"slots": 1, "lanes": {"l": {"prio": 1}}}}}, "queues.q.lanes.l.prio", "priority"),
    ({"queues": {"q": {"slots": 1, "loadcaps": []}}}, "queues.q.loadcaps", "loadCaps"),
    ({"agents": {"pool": {}}}, "agents.pool", "pools"),
    ({"agents": {"nested": {"type": []}}}, "agents.nested.type", "types"),
    ({"agents": {"pools": {"p": {"cap": 1, "loadCaps": [{"laod": 1, "cap": 1}]}}}}, None, "load"),
    ({"commands": [{"pattern": "a", "action": "refuse", "raeson": "x"}]}, "commands[0].raeson", "reason"),
    ({"commands": [{"pattern": "a", "action": "queue", "quue": "x"}]}, "commands[0].quue", "queue"),
    ({"resources": {"ports": {"form": 1}}}, "resources.ports.form", "from"),
]


@pytest.mark.parametrize(("part", "path", "near"), UNKNOWN)
def test_an_unknown_key_names_the_nearest(part: dict[str, Any], path: str | None, near: str) -> None:
    """A misspelt key is an error that offers the nearest known one, wherever it stands."""
    unknown = [finding for finding in findings(part) if finding.text.startswith("unknown key")]
    assert any(finding.path == path or path is None for finding in unknown)
    assert any(f'Did you mean "{near}"?' in finding.text for finding in unknown)


def test_all_errors_come_at_once_in_file_order() -> None:
    """Errors of every kind are reported together, each with its line and column."""
    text = """{
  "scope": "s", // fine
  "queues": {
    "build": { "slots": 0 },
    "build": { "slots": 1, "ordr": "fifo" },
  },
  "agents": { "defaultPool": "x" },
  "leaseSeconds": "10",
}"""
    found = findings(text)
    assert [(f.line, f.column, f.path) for f in found] == [
        (5, 5, "queues.build"),
        (5, 28, "queues.build.ordr"),
        (7, 30, "agents.defaultPool"),
        (8, 19, "leaseSeconds"),
    ]


def test_the_error_text_has_one_line_per_finding() -> None:
    """The text names file, line, column and path, as compilers do."""
    with pytest.raises(InvalidConfig) as caught:
        read('{"scope": "s",\n "leaseSeconds": 1, "messages": {"perMinute": 0}}')
    lines = str(caught.value).splitlines()
    assert lines[0].startswith("/p/.omp-coord.json:2:18: leaseSeconds: found 1;")
    assert len(lines) == 2


def test_very_many_errors_are_cut() -> None:
    """A thousand findings do not flood a terminal, but their number is told."""
    with pytest.raises(InvalidConfig) as caught:
        read({"agents": {"exempt": [1] * 1000}})
    lines = str(caught.value).splitlines()
    assert len(lines) == SHOWN_FINDINGS + 1
    assert "950 more" in lines[-1]
    assert len(caught.value.findings) == 1000


@pytest.mark.parametrize("text", ["5", "[]", '"x"', "null"])
def test_only_an_object_is_a_configuration(text: str) -> None:
    """Any other JSON is said to be none."""
    assert "allowed is an object" in findings(text)[0].text


def test_a_syntax_error_has_its_place() -> None:
    """JSON that cannot be read is one finding with line and column."""
    assert findings('{"scope": "s"\n "x"}')[0][:3] == (2, 2, "")


def test_more_than_a_mebibyte_is_refused_unread() -> None:
    """Size is checked before anything is parsed."""
    assert "larger than 1 MiB" in findings("[" * ((1 << 20) + 1))[0].text
    assert read('{"scope": "s"' + " " * ((1 << 20) - 14) + "}").scope == "s"


def test_a_password_is_not_repeated_in_an_error() -> None:
    """What is wrong with a URL is said without its password."""
    with pytest.raises(InvalidConfig) as caught:
        read({"redis": {"url": "http://me:hunter2@host", "x": "redis://:hunter2@h"}})
    assert "hunter2" not in str(caught.value)


KEYS = "scope redis url agents pools cap queues slots lanes commands action queue pattern reason lane ports é"
keys = st.sampled_from(["", "resources", "from", "nested", "types", "defaultPool", "refuse", *KEYS.split()])
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | keys,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=5),
    max_leaves=25,
)


@given(anything)
def test_any_json_is_either_valid_or_explained(value: Any) -> None:
    """Whatever the shape of a file, the only error that comes out is InvalidConfig, with a harmless text."""
    try:
        read(json.dumps(value))
    except InvalidConfig as error:
        assert all(clean(line) == line for line in str(error).split("\n"))


@given(st.binary(max_size=80))
def test_bytes_are_explained(content: bytes) -> None:
    """Broken files of any kind give InvalidConfig and nothing else."""
    with pytest.raises(InvalidConfig):
        validate("f", content)
