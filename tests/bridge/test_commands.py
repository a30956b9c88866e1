"""What becomes of an agent's command: which rule counts, what is peeled off first, what is put around."""

from __future__ import annotations

import time
from typing import Any

import pytest

from coord.bridge.commands import Commands, Decision
from coord.bridge.queued import Caller, Queued, line_of
from coord.bridge.tags import tagged
from coord.config.settings import CommandRules, Queue, Settings

ME = Caller("/opt/omp/bin/omp-coord", "/app/.omp-coord.json", "00ff00ff00ff00ff")
OTHER = Caller("/elsewhere/omp-coord", "/old/.omp-coord.json", "11ff00ff00ff00ff")
RULES = [
    (r"--force\b", "refuse", "Do not force.", None),
    (r"^make\b", "queue", "build", None),
    (r"(?i)^test\b", "queue", "test", "quick"),
    (r"make", "refuse", "make stands alone", None),
]


def commands(*, tag: bool = False, rules: list[Any] = RULES) -> Commands:
    settings = Settings("/app/.omp-coord.json", "app")
    settings.queues = {"build": Queue("build"), "test": Queue("test", lanes={"quick": (0, 0, None)})}
    settings.commands = CommandRules(rules, tag)
    return Commands(settings)


def queued(command: str, queue: str = "build", lane: str | None = None, agent: str = "W0", caller: Caller = ME) -> str:
    return line_of(Queued(queue, lane, command), caller, agent)


def test_the_first_rule_that_matches_counts() -> None:
    """Refused with its reason, or queued with its lane; what no rule knows runs as it stands."""
    on = commands()
    assert on.decide("git push --force", ME, "W0") == Decision(reason="Do not force.")
    assert on.decide("make --force", ME, "W0").reason == "Do not force."
    assert on.decide("make all", ME, "W0") == Decision(queued("make all"), None, "build")
    assert on.decide("TEST x", ME, "W0") == Decision(queued("TEST x", "test", "quick"), None, "test")
    assert on.decide("cd x && make", ME, "W0").reason == "make stands alone"
    assert on.decide("ls\n", ME, "W0") == Decision()


@pytest.mark.parametrize("tag", [False, True])
def test_a_repeated_line_is_written_for_whoever_runs_it(tag: bool) -> None:
    """Another agent, session, file and path of omp-coord: all of it is replaced, however often it goes round."""
    on = commands(tag=tag)
    wanted = queued("make all", agent="W7")
    wanted = tagged(wanted, "W7") if tag else wanted
    text = queued("make all", agent="it's", caller=OTHER)
    for _ in range(5):
        text = on.decide(text, ME, "W7").command or text
        assert text == wanted
    assert on.decide(wanted, ME, "W7") == Decision(None, None, "build")


def test_the_rules_see_the_command_in_a_repeated_line() -> None:
    """What stands around it decides nothing: the queue is that of the rule, and a refusal is one."""
    on = commands()
    assert on.decide(queued("make", "test", "quick"), ME, "W0").command == queued("make")
    assert on.decide(queued("git push --force"), ME, "W0").reason == "Do not force."


def test_a_repeated_line_that_no_rule_knows() -> None:
    """It keeps the queue that it names, as long as there is that one; else just its command runs."""
    on = commands()
    assert on.decide(queued("ls", "test", "quick", "W1", OTHER), ME, "W0").command == queued("ls", "test", "quick")
    assert on.decide(queued("ls", "test", "default", "W1"), ME, "W0").command == queued("ls", "test", "default")
    for gone in (queued("ls", "gone"), queued("ls", "test", "gone"), queued("ls", "build", "quick")):
        assert on.decide(gone, ME, "W0") == Decision("ls")


def test_lines_in_lines_are_one() -> None:
    """However deep, with tags between."""
    deep = queued(tagged(queued(tagged(queued("make", agent="W3"), "W2"), agent="W2"), "W1"), agent="W1")
    assert commands(tag=True).decide(tagged(deep, "Main"), ME, "W0").command == tagged(queued("make"), "W0")
    assert commands().decide(queued(queued("make", agent="W1"), agent="W2"), ME, "W0").command == queued("make")


def test_an_omp_coord_run_by_hand_is_left_alone() -> None:
    """No rule queues it a second time. What is refused is refused there as well."""
    on = commands(rules=[(r"--force\b", "refuse", "no", None), ("make", "queue", "build", None)])
    for text in ("omp-coord run lint -- make", "CI=1 /x/omp-coord run --wait 5m build -- make all | tail"):
        assert on.decide(text, ME, "W0") == Decision()
    assert on.decide("omp-coord run lint -- git push --force", ME, "W0").reason == "no"


def test_tags_on() -> None:
    """The rules see the command without tags; it carries exactly one, in front; a queued command has none inside."""
    on = commands(tag=True)
    for before in ("", tagged("", "W9"), tagged(tagged(" \n", "it's"), "W8")):
        assert on.decide(before + "ls 'x' ", ME, "W0").command == tagged("ls 'x' ", "W0")
        assert on.decide(before + "make", ME, "W0").command == tagged(queued("make"), "W0")
        assert on.decide(before + queued(before + "make", agent="W5"), ME, "W0").command == tagged(queued("make"), "W0")
        assert on.decide(before + "omp-coord run q -- x", ME, "W0").command == tagged("omp-coord run q -- x", "W0")
        assert on.decide(before + "x --force", ME, "W0").reason == "Do not force."
    assert on.decide(tagged("ls", "W0"), ME, "W0") == Decision()


def test_tags_off() -> None:
    """Nothing is stripped: rules see the tag, a command keeps it, and what is queued has it inside."""
    on = commands()
    assert on.decide(tagged("ls", "W9"), ME, "W0") == Decision()
    assert on.decide(tagged("make", "W9"), ME, "W0").reason == "make stands alone"
    seen = commands(rules=[(r"^export .*make", "queue", "build", None)])
    assert seen.decide(tagged("make", "W9"), ME, "W0").command == queued(tagged("make", "W9"))
    assert seen.decide(queued(tagged("make", "W9"), agent="W9"), ME, "W0").command == queued(tagged("make", "W9"))


@pytest.mark.parametrize("tag", [False, True])
def test_a_pattern_that_takes_too_long(tag: bool) -> None:
    """After 100 ms the command is let through, with a notice that names the pattern; a rule behind it is not asked."""
    slow = r"(a|aa)+\1x(?=b)$"
    on = commands(tag=tag, rules=[(slow, "refuse", "no", None), ("a", "refuse", "no", None)])
    text = "a" * 60 + "b"
    began = time.monotonic()
    decision = on.decide(text, ME, "W0")
    assert 0.05 < time.monotonic() - began < 5
    assert decision.command == (tagged(text, "W0") if tag else None)
    assert decision.reason is decision.queue is None
    assert slow in (decision.notice or "")
    assert on.decide("b", ME, "W0").notice is None


def test_what_cannot_be_queued_runs_and_is_said() -> None:
    """A command longer than an argument, and every one while the path of omp-coord is not known."""
    on = commands()
    long = "make " + "x" * 131_072
    assert on.decide(long, ME, "W0") == Decision(notice=on.decide(long, ME, "W0").notice)
    assert "128 KiB" in (on.decide(long, ME, "W0").notice or "")
    nowhere = on.decide("make", ME._replace(program=""), "W0")
    assert (nowhere.command, nowhere.queue) == (None, None)
    assert "does not know where" in (nowhere.notice or "")
