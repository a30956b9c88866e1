"""What every script and shared step in lua/ keeps to."""

from __future__ import annotations

import glob
import importlib
import os
import re

import pytest

from coord import scripts
from coord.answers import answer_of
from coord.keys import KEYS, Keys
from tests.contract.bytecode import globals_of
from tests.lua import headers

NAMES = scripts.names()
STEPS = sorted("lib/" + os.path.basename(path)[:-4] for path in glob.glob(os.path.join(scripts.FOLDER, "lib", "*.lua")))
GIVEN = {
    "redis",
    "cjson",
    "KEYS",
    "ARGV",
    "string",
    "table",
    "math",
    "ipairs",
    "pairs",
    "next",
    "tonumber",
    "tostring",
    "type",
    "unpack",
}
"""Globals that every server gives a script."""

COMMON = ["machine", "epoch", "fresh", "single", "channel", "user", "load", "vouch"]
NO_FUNCTION = {"lib/board", "lib/open", "lib/close"}
"""Steps that are a part of every script rather than a function."""

every_script = pytest.mark.parametrize("name", NAMES)
every_step = pytest.mark.parametrize("step", STEPS)
every_file = pytest.mark.parametrize("name", NAMES + STEPS)


@every_script
def test_it_compiles_and_uses_no_name_that_is_not_there(name: str) -> None:
    """A script is Lua 5.1 and reads no undefined name: an undeclared key or a missing include would be one."""
    read, written = globals_of(scripts.load(name).text)
    assert read <= GIVEN
    assert not written


@every_file
def test_a_file_fits_on_a_screen(name: str) -> None:
    """No file is longer than 80 lines, none wider than 140 characters."""
    lines = headers.source(name).splitlines()
    assert len(lines) <= 80
    assert max(map(len, lines)) <= 140


@every_file
def test_it_says_first_what_it_does(name: str) -> None:
    """Every file starts with a whole sentence."""
    first = " ".join(line.strip() for line in headers.header(name)).split("  ")[0]
    assert re.match(r"[A-Z].*[.:]", first)


@every_script
def test_its_header_names_verdicts(name: str) -> None:
    """Behind the sentence and an empty line come the verdicts; each tells of a newer board too."""
    assert headers.verdicts(name)
    assert "newerSchema" in headers.verdicts(name)


@every_script
def test_every_verdict_of_a_header_is_in_the_tables(name: str) -> None:
    """Each verdict is the outcome of a row in tests/lua, where each call is held against its script's header."""
    module = importlib.import_module(f"tests.lua.test_{name}")
    tests = [test for name, test in vars(module).items() if name.startswith("test_")]
    rows = [row for test in tests for row in getattr(test, "rows", ())]
    assert {row.verdict for row in rows} >= set(headers.verdicts(name))


@every_script
def test_verdicts_stand_in_the_script(name: str) -> None:
    """A verdict of the header is a word of the script, so none is left over from former days."""
    text = re.sub(r"--.*", "", scripts.load(name).text)
    assert [verdict for verdict in headers.verdicts(name) if f"'{verdict}'" not in text] == []


@every_script
def test_every_answer_has_a_class_that_can_read_it(name: str) -> None:
    """Whatever a header promises, all properties of its class in coord.answers can be asked for."""
    texts = {"holders": "[]", "ahead": "[]", "suspects": ""}
    for verdict in headers.verdicts(name):
        fields = headers.fields(name, verdict)
        answer = answer_of([verdict, *[word for field in fields for word in (field, texts.get(field, "1"))]])
        kinds = type(answer).__mro__
        asked = [key for kind in kinds for key, value in vars(kind).items() if isinstance(value, property)]
        assert {key: getattr(answer, key) for key in asked}.keys() >= {"suspects"}


@every_script
def test_keys_are_those_of_the_board(name: str) -> None:
    """Every key of a KEYS line is spelt in coord.keys."""
    assert set(scripts.load(name).keys) <= set(KEYS)


def test_every_key_belongs_to_a_script() -> None:
    """No key is spelt that no script touches."""
    assert {key for name in NAMES for key in scripts.load(name).keys} == set(KEYS)


@every_script
def test_the_common_arguments_come_last_and_in_order(name: str) -> None:
    """Every deciding script is told the same of its caller."""
    args = scripts.load(name).args
    assert args[-len(COMMON) :] == COMMON if name != "board_read" else args == []


@every_script
def test_keys_and_arguments_are_named_once_at_the_top(name: str) -> None:
    """Behind the two lines that name them nobody indexes KEYS or ARGV."""
    code = re.sub(r"--.*", "", scripts.load(name).text)
    assert len(re.findall(r"\bKEYS\b", code)) == 1
    assert len(re.findall(r"\bARGV\b", code)) == (0 if name == "board_read" else 1)


@every_file
def test_no_key_is_built_or_looked_for(name: str) -> None:
    """Keys come from the caller: none is spelt in Lua, and nothing looks for keys by pattern."""
    code = re.sub(r"--.*", "", headers.source(name))
    assert "coord:" not in code
    assert not re.search(r"'(KEYS|SCAN|EVAL|FUNCTION|RANDOMKEY)'", code)


@every_step
def test_a_shared_step_is_one_function_of_its_name(step: str) -> None:
    """lib/x.lua defines `local function x` and nothing else at its top level."""
    found = re.findall(r"^local function (\w+)", headers.source(step), re.MULTILINE)
    assert found == ([] if step in NO_FUNCTION else [step.removeprefix("lib/")])


@every_step
def test_a_shared_step_is_needed(step: str) -> None:
    """Every shared step is included somewhere."""
    assert any(re.search(rf"^ *-- @include {step}$", headers.source(n), re.MULTILINE) for n in NAMES + STEPS)


@every_file
def test_every_include_is_needed(name: str) -> None:
    """What a file includes it uses (`lib/open` and `lib/close` are whole parts of a script)."""
    text = headers.source(name)
    code = re.sub(r"--.*", "", text)
    for step in re.findall(r"-- @include (lib/\w+)", text):
        word = step.removeprefix("lib/")
        assert step in NO_FUNCTION or name in NO_FUNCTION or re.search(rf"\b{word}\b", code), step


def test_all_keys_of_a_scope_share_one_slot_of_a_cluster() -> None:
    """The scope stands in braces, so a scope is one slot; other scopes are others."""
    from redis.crc import key_slot

    slots = {key_slot(key.encode()) for key in Keys("a").all()}
    assert len(slots) == 1
    assert slots != {key_slot(key.encode()) for key in Keys("b").all()}
