"""Any command survives what is written around it: random texts through a real bash, before and after."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from coord.bridge.commands import Commands
from coord.bridge.queued import Caller
from coord.bridge.tags import tagged
from coord.config.settings import CommandRules, Queue, Settings
from tests.bridge.texts import commands, texts

RECEIVED = """#!/bin/sh
printf '%s\\0' "agent=$OMP_COORD_AGENT" "$@"
test -t 0 || cat
"""
"""Prints who runs it, what it was given, and its standard input."""

EXECS = """#!/bin/sh
while test "$1" != --; do shift; done
shift
exec "$@"
"""
SHOWS = """#!/bin/sh
printf '%s\\0' "$@"
"""
LONG = "received '" + "ab'\\''ü\n$x" * 11_000 + "'"
"""100 kB, a third of them to be quoted."""

some = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
Shell = Callable[..., tuple[bytes, int]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Programs: `received`, and omp-coord's stand-ins `execs/omp-coord` (runs what follows `--`) and `shows/omp-coord`."""
    folder = tmp_path_factory.mktemp("it's a folder")
    for name, text in (("received", RECEIVED), ("execs/omp-coord", EXECS), ("shows/omp-coord", SHOWS)):
        path = folder / "bin" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
    (folder / "empty").mkdir()
    return folder


@pytest.fixture(scope="module")
def shell(folder: Path) -> Shell:
    """What a command prints under a real bash, and its exit code."""
    env = {"PATH": f"{folder}/bin:{os.environ['PATH']}", "HOME": "/", "LC_ALL": "C.UTF-8"}

    script = folder / "script"

    def run(command: str) -> tuple[bytes, int]:
        script.write_bytes(
            command.encode()
        )  # a host has a shell of its own, so a command may be longer than an argument
        ended = subprocess.run(
            ["bash", script],
            cwd=folder / "empty",
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
            check=False,
        )
        return ended.stdout, ended.returncode

    return run


def rules(*, tag: bool, queue: bool = True) -> Commands:
    found = Settings("/app/.omp-coord.json", "app")
    found.queues = {"build": Queue("build", lanes={"quick": (0, 0, None)})}
    found.commands = CommandRules([("(?s).*", "queue", "build", "quick")] if queue else [], tag)
    return Commands(found)


def caller(folder: Path, stand_in: str) -> Caller:
    return Caller(f"{folder}/bin/{stand_in}/omp-coord", "/it's/my app/.omp-coord.json", "00ff00ff00ff00ff")


@pytest.mark.parametrize("tag", [False, True])
def test_a_queued_command_is_given_whole(folder: Path, shell: Shell, tag: bool) -> None:
    """Any texts at all: what a shell makes of each line are exactly the words that were meant."""
    me, on = caller(folder, "shows"), rules(tag=tag)

    @settings(some, max_examples=60)
    @given(st.lists(texts, max_size=20))
    def whole(many: list[str]) -> None:
        lines = [on.decide(text, me, "it's W0").command or "" for text in many]
        out, code = shell("\n".join(lines))
        wanted = ["run", "--config", me.config, "--owner", me.session, "--agent", "it's W0", "--lane", "quick", "build"]
        assert out.decode() == "".join("\0".join([*wanted, "--", "bash", "-c", text, ""]) for text in many)
        assert code == 0

    whole()


@pytest.mark.parametrize("tag", [False, True])
def test_a_queued_command_does_what_it_did(folder: Path, shell: Shell, tag: bool) -> None:
    """Words, pipes, heredocs, functions, comments, exit codes: the program receives the same, also when the line is taken
    from the conversation and typed again by others, any number of times."""
    me, on = caller(folder, "execs"), rules(tag=tag)

    @settings(some, max_examples=40)
    @example(LONG, ["W1", "it's"])
    @given(commands(), st.lists(st.sampled_from(["W0", "W1", "it's", "a b"]), min_size=1, max_size=4))
    def same(command: str, agents: list[str]) -> None:
        line = command
        for agent in agents:
            line = on.decide(line, me, agent).command or line
        assert line == on.decide(command, me, agents[-1]).command
        out, code = shell(command)
        if tag:
            out = out.replace(b"agent=\0", f"agent={agents[-1]}\0".encode())
        assert shell(line) == (out, code)

    same()


def test_a_tagged_command_does_what_it_did(folder: Path, shell: Shell) -> None:
    """It only knows its agent besides, the one that runs it now, however many had typed it before."""
    me, on = caller(folder, "execs"), rules(tag=True, queue=False)

    @settings(some, max_examples=40)
    @example(LONG, ["W1", "it's"])
    @given(commands(), st.lists(st.sampled_from(["W0", "W1", "it's", "a b"]), min_size=1, max_size=4))
    def same(command: str, agents: list[str]) -> None:
        line = command
        for agent in agents:
            line = on.decide(line, me, agent).command or line
        bare = command if len(agents) == 1 else command.lstrip(" \t\n")
        assert line == tagged(bare, agents[-1])
        out, code = shell(command)
        assert shell(line) == (out.replace(b"agent=\0", f"agent={agents[-1]}\0".encode()), code)

    same()


def test_any_text_is_stable(folder: Path) -> None:
    """Whatever a text is, typed again and again by one agent it does not change any more."""
    me = caller(folder, "execs")

    @settings(some, max_examples=200)
    @given(texts, st.booleans(), st.booleans())
    def stable(text: str, tag: bool, queue: bool) -> None:
        on = rules(tag=tag, queue=queue)
        once = on.decide(text, me, "W0").command or text
        twice = on.decide(once, me, "W0").command or once
        assert on.decide(twice, me, "W0").command is None
        if queue:
            assert once == twice

    stable()
