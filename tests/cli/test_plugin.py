"""`omp-coord plugin`: what it has omp do, and what it says of it. (The real omp is in tests/host.)"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coord import __version__, plugin_folder
from tests.cli.desk import Desk
from tests.cli.place import one_line

OMP = f"""#!{sys.executable}
import json, os, sys
state = os.path.join(os.path.dirname(sys.argv[0]), "state.json")
had = json.load(open(state))
with open(os.path.dirname(sys.argv[0]) + "/asked", "a") as asked:
    asked.write(" ".join(sys.argv[1:]) + "\\n")
if "fails" in had:
    sys.stderr.write("\\x1b[31mnoise\\x1b[0m\\n\\u2718 " + had["fails"] + "\\n")
    sys.exit(3)
if "says" in had:
    print(had["says"])
elif sys.argv[1:] == ["plugin", "list", "--json"]:
    print(json.dumps(had))
"""
LINE = "Error: no bun on PATH"
Fake = Callable[..., Path]


@pytest.fixture
def omp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    """Makes an omp that has these plugins, as the real one lists them; it writes down what it was asked."""

    def make(npm: list[Any] = [], marketplace: list[Any] = [], **more: str) -> Path:  # noqa: B006
        (tmp_path / "omp").write_text(OMP, encoding="utf-8")
        (tmp_path / "omp-coord").write_text("")
        for name in ("omp", "omp-coord"):
            (tmp_path / name).chmod(0o755)
        (tmp_path / "state.json").write_text(json.dumps({"npm": npm, "marketplace": marketplace, **more}))
        monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/nowhere")
        return tmp_path

    monkeypatch.setenv("PATH", "/nowhere")
    return make


@pytest.fixture
def carried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The plugin that this command carries."""
    folder = tmp_path / "carried plugin"
    folder.mkdir()
    (folder / "package.json").write_text(json.dumps({"name": "omp-coord", "version": __version__}))
    monkeypatch.setattr(plugin_folder, "_PLACES", (str(tmp_path / "none"), str(folder)))
    return folder


def asked(omp: Path) -> list[str]:
    return (omp / "asked").read_text().splitlines()


def linked(path: Path, version: str = __version__) -> dict[str, Any]:
    """As `omp plugin list --json` shows a link; `path` is the link itself."""
    return {"name": "omp-coord", "version": version, "path": str(path), "manifest": {}, "enabled": True}


def market(version: str = __version__) -> dict[str, Any]:
    entry = {"scope": "user", "installPath": "/cache/omp-coord", "version": version}
    return {"id": "omp-coord@omp-coord", "scope": "user", "entries": [entry]}


OTHERS = {"npm": [{"name": "other", "version": "1.0.0", "path": "/x", "manifest": {}, "enabled": True}]}


def test_path(desk: Desk, carried: Path) -> None:
    """The folder, alone on stdout, so that it can be used in a line."""
    assert desk.cli("plugin", "path") == (f"{carried}\n", "")


@pytest.mark.parametrize("word", ["path", "install"])
def test_an_installation_without_the_plugin(desk: Desk, carried: Path, omp: Fake, word: str) -> None:
    """One line, exit 1, and omp is not asked for anything."""
    (carried / "package.json").unlink()
    omp()
    out, err = desk.cli("plugin", word, code=1)
    assert (out, one_line(err)) == ("", "this installation has no plugin in it: install omp-coord again")


def test_install(desk: Desk, carried: Path, omp: Fake) -> None:
    """omp links the folder; what was done is said, with the line that does it."""
    host = omp(**OTHERS)
    out, err = desk.cli("plugin", "install")
    assert asked(host) == ["plugin list --json", f"plugin link {carried}"]
    assert out.splitlines()[0] == f"The plugin {__version__} is linked into omp: omp plugin link {carried}"
    assert (len(out.splitlines()), err) == (2, "")


def test_install_over_another_link(desk: Desk, carried: Path, omp: Fake, tmp_path: Path) -> None:
    """The old one is named; the same one is no news."""
    link = tmp_path / "link"
    link.symlink_to(carried)
    omp([linked(link)])
    assert "Before" not in desk.cli("plugin", "install")[0]
    link.unlink()
    link.symlink_to(tmp_path)
    omp([linked(link, "0.0.1")])
    assert f"Before it was the plugin 0.0.1 in {tmp_path}." in desk.cli("plugin", "install")[0]


def test_install_beside_a_marketplace(desk: Desk, carried: Path, omp: Fake) -> None:
    """It would be loaded twice: nothing is done, and the line that renews it is named."""
    host = omp([], [market()])
    _, err = desk.cli("plugin", "install", code=1)
    assert one_line(err).endswith("omp plugin upgrade omp-coord@omp-coord")
    assert asked(host) == ["plugin list --json"]


def test_uninstall(desk: Desk, omp: Fake, tmp_path: Path) -> None:
    """Each way in which omp has it is undone; other plugins stay."""
    host = omp([linked(tmp_path), *OTHERS["npm"]], [market()])
    out, err = desk.cli("plugin", "uninstall")
    wanted = ["plugin uninstall omp-coord", "plugin uninstall omp-coord@omp-coord --scope user"]
    assert asked(host)[1:] == wanted
    assert (out.count("taken out of omp: omp plugin uninstall"), err) == (2, "")


def test_uninstall_of_nothing(desk: Desk, omp: Fake) -> None:
    """It is as it should be: exit 0."""
    host = omp(**OTHERS)
    assert desk.cli("plugin", "uninstall") == ("omp does not have the plugin.\n", "")
    assert asked(host) == ["plugin list --json"]


@pytest.mark.parametrize("word", ["install", "uninstall"])
def test_without_omp(desk: Desk, carried: Path, omp: Fake, word: str) -> None:
    """One line that says what to do, exit 1."""
    out, err = desk.cli("plugin", word, code=1)
    assert (out, one_line(err)) == ("", "omp is not on PATH: install omp, or add its folder to PATH, and try again")


@pytest.mark.parametrize("word", ["install", "uninstall", "status"])
@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"fails": LINE}, f"omp plugin list --json failed: \u2718 {LINE}"),
        ({"says": "Welcome!"}, "omp plugin list --json says nothing that can be read: is this omp too old?"),
        ({"says": "{}"}, "omp plugin list --json says nothing that can be read: is this omp too old?"),
    ],
)
def test_an_omp_that_fails(desk: Desk, carried: Path, omp: Fake, word: str, more: Any, said: str) -> None:
    """One line with what it said last, exit 1."""
    omp(**more)
    out, err = desk.cli("plugin", word, code=1)
    assert (out, one_line(err)) == ("", said)


def test_an_omp_that_does_not_run(desk: Desk, carried: Path, omp: Fake) -> None:
    """One line."""
    host = omp()
    (host / "omp").write_text("#!/nowhere/python\n")
    assert one_line(desk.cli("plugin", "status", code=1)[1]).startswith("omp plugin list --json does not run: ")


def test_status(desk: Desk, carried: Path, omp: Fake, tmp_path: Path) -> None:
    """Versions, places, and in the last line whether all is well or what to type."""
    none = desk.cli("plugin", "status")[0]
    assert "not on PATH" in none
    host = omp()
    assert "omp-coord plugin install" in desk.cli("plugin", "status")[0].splitlines()[-1]
    link = tmp_path / "link"
    link.symlink_to(carried)
    omp([linked(link)])
    out, err = desk.cli("plugin", "status")
    assert out.splitlines() == [
        f"command  {__version__}  {host}/omp-coord",
        f"carries  {__version__}  {carried}",
        f"omp      {host}/omp",
        f"in omp   {__version__}  {carried} (link)",
        "         Command and plugin are of one version.",
    ]
    assert err == ""
    for npm, marketplace, line in (
        ([linked(link, "0.0.1")], [], "omp-coord plugin install"),
        ([], [market("9.9.9")], "omp plugin upgrade omp-coord@omp-coord"),
        ([linked(link)], [market()], "omp-coord plugin uninstall, then omp-coord plugin install"),
    ):
        omp(npm, marketplace)
        assert desk.cli("plugin", "status")[0].splitlines()[-1].endswith(line)


def test_status_of_a_command_that_the_plugin_does_not_find(
    desk: Desk, carried: Path, omp: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is what OMP_COORD_BIN names, else what lies on PATH; without it the plugin can do nothing, so that is said."""
    host = omp([], [market()])
    assert desk.json("plugin", "status", "--json")["command"]["path"] == f"{host}/omp-coord"
    monkeypatch.setenv("OMP_COORD_BIN", str(host / "omp"))
    assert desk.json("plugin", "status", "--json")["command"]["path"] == f"{host}/omp"
    monkeypatch.setenv("OMP_COORD_BIN", "/nowhere/omp-coord")
    assert desk.cli("plugin", "status")[0].splitlines()[-1].strip() == (
        "The plugin does not find the command: add its folder to PATH, or name it in OMP_COORD_BIN."
    )


def test_status_json(desk: Desk, carried: Path, omp: Fake, tmp_path: Path) -> None:
    """The same as data; what is absent is null."""
    off = {"version": 1, "command": {"version": __version__, "path": None}, "omp": None, "installed": [], "agree": None}
    assert desk.json("plugin", "status", "--json") == {**off, "carried": {"version": __version__, "path": str(carried)}}
    (carried / "package.json").write_text("{")
    assert desk.json("plugin", "status", "--json") == {**off, "carried": None}
    host = omp([{**linked(tmp_path, "0.0.1"), "enabled": False}], [market()])
    found = desk.json("plugin", "status", "--json")
    assert (found["omp"], found["agree"]) == (f"{host}/omp", False)
    package = {"how": "package", "version": "0.0.1", "path": str(tmp_path), "enabled": False, "id": "omp-coord"}
    entry = {"how": "marketplace", "path": "/cache/omp-coord", "enabled": True, "id": "omp-coord@omp-coord"}
    assert found["installed"] == [package, {**entry, "version": __version__}]
    omp([], [market()])
    assert desk.json("plugin", "status", "--json")["agree"] is True
