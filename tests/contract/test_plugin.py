"""The plugin says the words of the bridge's protocol and has the version of the package."""

from __future__ import annotations

import json
import os
import re
from typing import Any

import pytest

from coord import __version__
from coord.bridge import protocol, tools, typescript

PLUGIN = os.path.join(typescript.FOLDER, "..")
SOURCES = typescript.FOLDER


def read(name: str) -> str:
    with open(os.path.join(PLUGIN, name), encoding="utf-8") as file:
        return file.read()


def test_the_protocol_is_the_bridges() -> None:
    """`python -m coord.bridge.typescript` would write what is there."""
    assert {name: read(f"src/{name}") for name in typescript.files()} == typescript.files()
    assert typescript.main(["--check"]) == 0


def test_a_change_of_the_protocol_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request more, and the file that is there is not right any more."""
    more: dict[str, Any] = {**protocol.REQUESTS, "more.words": (protocol.SlashRun, None)}
    monkeypatch.setattr(protocol, "REQUESTS", more)
    assert '"more.words": { params: SlashRun; result: null };' in typescript.files()["protocol.ts"]
    assert typescript.main(["--check"]) == 1


def test_a_tool_that_is_offered_newly_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tool more, and the plugin would register it too late."""
    monkeypatch.setattr(tools, "TOOLS", [*tools.TOOLS, {"name": "coord_more", "description": "", "schema": {}}])
    assert typescript.main(["--check"]) == 1


def test_the_package() -> None:
    """Its version, its entry, and that it needs nothing at run time."""
    package = json.loads(read("package.json"))
    assert (package["name"], package["version"], package["license"]) == ("omp-coord", __version__, "MIT")
    assert f'VERSION = "{__version__}"' in read("src/version.ts")
    assert package["omp"] == {"extensions": ["./src/index.ts"]}
    assert "dependencies" not in package
    assert os.path.isfile(os.path.join(PLUGIN, package["omp"]["extensions"][0]))


def test_modules_of_omp_are_imported_by_literal_names_in_a_try() -> None:
    """Anything else bun would look for on the network, or it would fail where an omp has no such module."""
    found = []
    for name in sorted(os.listdir(SOURCES)):
        text = read(f"src/{name}")
        for place in re.finditer(r"\bimport\((.)", text):
            if not name.endswith(".d.ts"):
                found.append(name)
                assert place[1] == '"', name
                assert text[: place.start()].rstrip().endswith(("await",)), name
                assert "try {" in text[: place.start()].rsplit("function", 1)[-1], name
    assert found == ["allowance.ts", "delivery.ts", "roster.ts"]


@pytest.mark.parametrize("name", sorted(os.listdir(SOURCES)))
def test_small_modules(name: str) -> None:
    """At most 200 lines."""
    assert read(f"src/{name}").count("\n") <= 200
