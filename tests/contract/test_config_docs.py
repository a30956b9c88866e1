"""The configuration's documentation says what the code does."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, get_args, get_origin

import pytest
from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from coord.config.models import Config
from coord.config.schema import schema, schema_text
from coord.config.validate import validate
from omp_coord.commands.config import config_app
from omp_coord.commands.init import init

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "configuration.md").read_text()
EXAMPLE = (ROOT / "examples" / "omp-coord.json").read_bytes()


def fields(kind: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every field below a type with its path as the page writes it, and its own default."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        for name, field in kind.model_fields.items():
            inner = f"{path}.{field.alias or name}".lstrip(".")
            yield inner, field.get_default(call_default_factory=True)
            yield from fields(field.annotation, inner)
    elif get_origin(kind) is dict:
        yield from fields(get_args(kind)[1], f"{path}.<name>")
    elif get_origin(kind) is list:
        yield from fields(get_args(kind)[0], f"{path}[]")
    elif get_origin(kind) in (Annotated, UnionType):
        for member in get_args(kind):
            yield from fields(member, path)


ROWS = {row[0]: row[1] for row in re.findall(r"^\| `([^`|]+)` \| ([^|]+) \|", PAGE, re.M)}
FIELDS = dict(fields(Config))
GROUPS = {"redis", "agents", "agents.nested", "claims", "messages", "resources", "history"}


def test_the_walk_finds_the_fields() -> None:
    """The test below would pass for no fields at all."""
    assert "queues.<name>.lanes.<name>.reserved" in FIELDS
    assert "commands[].lane" in FIELDS
    assert "resources.ports.from" in FIELDS


@pytest.mark.parametrize("path", sorted(FIELDS.keys() - GROUPS))
def test_every_field_stands_in_the_page(path: str) -> None:
    """Each field has its row, and where the code has a plain default the row shows it."""
    assert path in ROWS
    default = FIELDS[path]
    if default is PydanticUndefined:
        assert ROWS[path].startswith("required")
    elif default is not None:
        assert ROWS[path] == f"`{json.dumps(default)}`"
    else:
        assert not ROWS[path].startswith(("required", "`"))


def test_the_page_names_no_other_field() -> None:
    """A field that is gone leaves the page too."""
    known = FIELDS.keys()
    commands = {row for row in ROWS if row.startswith("omp-coord ")}
    assert ROWS.keys() - commands - known == set()


def test_the_kept_schema_is_the_printed_one() -> None:
    """`docs/schema.json` is what `config schema` prints, byte for byte."""
    assert (ROOT / "docs" / "schema.json").read_text() == schema_text()


def test_the_schema_closes_every_object() -> None:
    """An editor marks an unknown key wherever the check would refuse it."""
    nodes = [schema(), *schema()["$defs"].values()]
    maps = re.findall(r'"patternProperties"', schema_text())
    assert all(node["additionalProperties"] is False for node in nodes)
    assert schema_text().count('"additionalProperties": false') == len(nodes) + len(maps)


def test_the_example_is_valid_and_complete() -> None:
    """The example passes the check and shows every field."""
    config = validate("examples/omp-coord.json", EXAMPLE)
    assert config.scope.startswith("example")
    missing = [path for path in FIELDS if f'"{path.removesuffix("[]").split(".")[-1]}"' not in EXAMPLE.decode()]
    assert missing == []


@pytest.mark.parametrize("text", re.findall(r"```jsonc\n(.*?)```", PAGE, re.S))
def test_the_pages_examples_are_valid(text: str) -> None:
    """What is shown can be copied."""
    validate("docs/configuration.md", text.encode())


def test_every_command_and_option_stands_in_the_page() -> None:
    """The commands of this group, with their options."""
    rows = [row for row in ROWS if row.startswith("omp-coord ")]
    names = [command.callback.__name__ for command in config_app.registered_commands if command.callback]
    assert {row.split()[2] for row in rows if row.startswith("omp-coord config")} == set(names)
    assert f"omp-coord {init.__name__}" in rows
    assert "omp-coord config check [--config FILE] [--json]" in rows
