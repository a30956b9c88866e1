"""One version everywhere, and a package that carries what omp loads."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from coord import __version__, plugin_folder

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
CATALOG = json.loads((ROOT / ".omp-plugin" / "marketplace.json").read_text())
PLUGIN = ROOT / "plugin"
SKILL = PLUGIN / "skills" / "omp-coord" / "SKILL.md"


def package() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((PLUGIN / "package.json").read_text())
    return found


def newest_in_changelog() -> str | None:
    """The newest version that was released; None before the first."""
    return next(iter(re.findall(r"^## \[(\d[^\]]*)\]", (ROOT / "CHANGELOG.md").read_text(), re.M)), None)


def test_the_versions_agree() -> None:
    """The package, the plugin, the marketplace's catalog, and the changelog once it has a released section."""
    assert PROJECT["project"]["version"] == __version__
    assert package()["version"] == __version__
    assert CATALOG["metadata"]["version"] == __version__
    assert [entry["version"] for entry in CATALOG["plugins"]] == [__version__]
    assert newest_in_changelog() in (__version__, None)


def test_the_catalog_leads_to_the_plugin() -> None:
    """Its names are the ones of the documented line `omp plugin install omp-coord@omp-coord`, its source is the folder."""
    (entry,) = CATALOG["plugins"]
    assert (CATALOG["name"], entry["name"], package()["name"]) == ("omp-coord", "omp-coord", "omp-coord")
    assert CATALOG["owner"]["name"]
    assert entry["source"].startswith("./")
    assert (ROOT / entry["source"]).resolve() == PLUGIN
    assert plugin_folder.folder() == str(PLUGIN)
    assert plugin_folder.version() == __version__


def test_the_wheel_carries_the_plugin() -> None:
    """Everything that the plugin's own package would, and its manifest; no tests, and nothing that those install."""
    forced = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    carried = {place: target for place, target in forced.items() if place.startswith("plugin")}
    files = {name for name in package()["files"] if (PLUGIN / name).exists()} | {"package.json"}
    assert carried == {f"plugin/{name}": f"coord/plugin/{name}" for name in files}
    assert {"src", "skills"} <= files
    assert all((PLUGIN / extension).is_file() for extension in package()["omp"]["extensions"])
    assert not package().get("dependencies")


def test_the_skill() -> None:
    """Its front matter is what omp and the skills' format take, and it is half a page that names only tools there are."""
    from coord.bridge.tools import TOOLS

    _, head, body = SKILL.read_text().split("---\n", 2)
    fields = dict(re.findall(r"^(\w+): (.+)$", head, re.M))
    assert fields.keys() == {"name", "description"}
    assert fields["name"] == SKILL.parent.name
    assert len(fields["description"]) <= 1024
    assert len(body.splitlines()) <= 40
    named = set(re.findall(r"\bcoord_\w+", body))
    assert named == {tool["name"] for tool in TOOLS}


@pytest.mark.parametrize("part", ["src", "skills", "package.json"])
def test_the_plugin_is_in_the_repository(part: str) -> None:
    """The tests above would be about nothing without it."""
    assert (PLUGIN / part).exists()
