"""`omp-coord config check|schema|trust` and `omp-coord init`, as a user sees them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import Result

from omp_coord.commands.config import config_app
from omp_coord.commands.init import init
from tests.cli.invoking import invoke

ROOT = Path(__file__).parents[2]
REMOTE = '{"scope": "demo", "redis": {"url": "redis://me:hunter2@example.org/0"}}'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project folder to work in, with a home and a state folder of its own."""
    project = tmp_path / "home" / "project"
    project.mkdir(parents=True)
    monkeypatch.chdir(project)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("OMP_COORD_HOME", str(tmp_path / "state"))
    return project


def config(*words: str) -> Result:
    return invoke(config_app, words)


def run_init() -> Result:
    app = typer.Typer()
    app.command()(init)
    return invoke(app, [])


def file(folder: Path, content: str) -> Path:
    path = folder / ".omp-coord.json"
    path.write_text(content)
    path.chmod(0o644)
    return path


def test_check_of_a_valid_file_says_what_it_found(folder: Path) -> None:
    """Path and scope on stdout, nothing on stderr, exit 0."""
    path = file(folder, '{"scope": "demo"}')
    result = config("check")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == f"{path} is valid. Scope: demo\n"


def test_check_prints_all_errors_to_stderr(folder: Path) -> None:
    """One line per finding with its place; exit 2; nothing on stdout."""
    path = file(folder, '{\n  "scope": "demo",\n  "queues": {"q": {"slots": 0, "slot": 1}}\n}')
    result = config("check")
    assert (result.exit_code, result.stdout) == (2, "")
    lines = result.stderr.splitlines()
    assert lines[0].startswith(f"omp-coord: {path}:3:29: queues.q.slots: found 0; allowed is")
    assert lines[1].startswith(f"omp-coord: {path}:3:32: queues.q.slot: unknown key. Did you mean")
    assert len(lines) == 2


def test_check_json_is_one_object(folder: Path) -> None:
    """Errors as data, with line, column and path; the exit code stays 2."""
    path = file(folder, '{"scope": "demo", "leaseSeconds": 0}')
    result = config("check", "--json")
    report = json.loads(result.stdout)
    assert result.exit_code == 2
    assert (report["version"], report["path"], report["valid"]) == (1, str(path), False)
    assert report["errors"][0]["path"] == "leaseSeconds"
    assert (report["errors"][0]["line"], report["errors"][0]["column"]) == (1, 35)


def test_check_json_of_a_valid_file(folder: Path) -> None:
    """Nothing is left out: what is not there is null or empty."""
    path = file(folder, '{"scope": "demo"}')
    report = json.loads(config("check", "--json").stdout)
    assert len(report.pop("policy")) == 16
    assert report == {
        "version": 1,
        "path": str(path),
        "scope": "demo",
        "valid": True,
        "trusted": True,
        "errors": [],
        "warnings": [],
    }


def test_check_without_a_file_points_at_init(folder: Path) -> None:
    """No file is no error: the scope that is used then is shown."""
    result = config("check")
    assert result.exit_code == 0
    assert "omp-coord init" in result.stdout
    assert "Scope: project-" in result.stdout


def test_check_of_a_named_file(folder: Path) -> None:
    """`--config` checks that one; one that is not there is an error."""
    file(folder, "{")
    (folder / "team.json").write_text('{"scope": "team"}')
    assert "Scope: team" in config("check", "--config", "team.json").stdout
    result = config("check", "--config", "none.json", "--json")
    assert result.exit_code == 2
    assert json.loads(result.stdout)["errors"][0]["line"] is None
    assert "does not exist" in result.stderr


def test_check_warns_of_files_that_are_passed_over(folder: Path) -> None:
    """A world-writable file is named on stderr; the exit code is still 0."""
    file(folder, '{"scope": "demo"}').chmod(0o666)
    result = config("check")
    assert result.exit_code == 0
    assert result.stderr.startswith("omp-coord: warning: ")


def test_check_warns_of_a_server_that_is_not_trusted(folder: Path) -> None:
    """The URL is shown without its password, and how to trust it."""
    file(folder, REMOTE)
    result = config("check")
    assert result.exit_code == 0
    assert "config trust" in result.stderr
    assert "example.org" in result.stderr
    assert "hunter2" not in result.output + result.stderr


def test_check_reports_a_missing_variable(folder: Path) -> None:
    """What a run would stumble over is found here."""
    file(folder, '{"scope": "demo", "redis": {"url": "redis://${NO_SUCH_VARIABLE}"}}')
    result = config("check")
    assert result.exit_code == 2
    assert "NO_SUCH_VARIABLE" in result.stderr


def test_check_output_is_harmless_for_a_terminal(folder: Path) -> None:
    """Escape sequences in a file reach no terminal."""
    file(folder, '{"scope": "demo", "\\u001b[31mred\\u0007": 1}')
    result = config("check")
    assert result.exit_code == 2
    assert all(line.isprintable() for line in (result.output + result.stderr).splitlines())


def test_check_in_a_folder_that_was_removed(folder: Path) -> None:
    """One line, exit 2, no traceback."""
    folder.rmdir()
    result = config("check")
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1


def test_schema_prints_json(folder: Path) -> None:
    """The schema is one JSON object that knows the fields."""
    result = config("schema")
    assert result.exit_code == 0
    assert "queues" in json.loads(result.stdout)["properties"]


def test_trust_lasts_until_the_file_changes(folder: Path) -> None:
    """After `trust` the check has no warning; after an edit it has one again."""
    file(folder, REMOTE)
    result = config("trust")
    assert result.exit_code == 0
    assert "redis://example.org/0" in result.stdout
    assert "hunter2" not in result.output + result.stderr
    assert json.loads(config("check", "--json").stdout)["trusted"] is True
    file(folder, REMOTE + "\n")
    assert json.loads(config("check", "--json").stdout)["trusted"] is False


def test_trust_of_a_url_with_variables(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It can be given before the variable is set, and counts when it is."""
    file(folder, '{"scope": "demo", "redis": {"url": "redis://${SOME_HOST}"}}')
    assert config("trust").exit_code == 0
    monkeypatch.setenv("SOME_HOST", "example.org")
    assert json.loads(config("check", "--json").stdout)["trusted"] is True


def test_trust_with_nothing_to_trust(folder: Path) -> None:
    """A file that stays on this machine needs none; no file is exit 1; a broken one exit 2."""
    assert config("trust").exit_code == 1
    file(folder, '{"scope": "demo"}')
    result = config("trust")
    assert result.exit_code == 0
    assert "nothing to trust" in result.stdout
    file(folder, "{")
    assert config("trust").exit_code == 2


def test_init_writes_a_file_that_passes_the_check(folder: Path) -> None:
    """`init` then `config check` is all well."""
    (folder / "Makefile").write_text("lint:\n\ttrue\n")
    result = run_init()
    assert (result.exit_code, result.stderr) == (0, "")
    assert (folder / ".omp-coord.json").exists()
    assert config("check").exit_code == 0


def test_init_never_overwrites(folder: Path) -> None:
    """Exit 1, one line on stderr, the file as it was."""
    path = file(folder, "mine")
    result = run_init()
    assert (result.exit_code, result.stdout) == (1, "")
    assert len(result.stderr.splitlines()) == 1
    assert path.read_text() == "mine"


@pytest.mark.parametrize("command", ["check", "schema", "trust"])
def test_help_has_two_examples_and_the_exit_codes(command: str) -> None:
    """Every command says how it is used and how it ends."""
    text = config(command, "--help").stdout
    assert text.count(f"omp-coord config {command}") >= 2
    assert "Exit codes:" in text


def test_init_help_has_two_examples_and_the_exit_codes() -> None:
    """As every command."""
    assert (init.__doc__ or "").count("      omp-coord init") == 2
    assert "Exit codes:" in (init.__doc__ or "")


def test_a_usage_error_is_exit_2(folder: Path) -> None:
    """As a process, with an option that does not exist."""
    code = "from omp_coord.commands.config import config_app; config_app()"
    path = os.pathsep.join((str(ROOT), str(ROOT / "cli")))
    words = [sys.executable, "-c", code, "check", "--nope"]
    environment = {**os.environ, "PYTHONPATH": path}
    result = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert "Traceback" not in result.stderr
