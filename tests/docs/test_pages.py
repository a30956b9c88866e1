"""What the pages say of other pages, of tests and of the Makefile is so."""

from __future__ import annotations

import ast
import os
import re
from functools import cache

import pytest

from coord import names
from coord.config.validate import validate
from tests.docs.pages import PAGES, ROOT, anchors, blocks, prose, read

LINK = re.compile(r"\[[^]]*\]\(([^)\s]+)\)")
PLACES = re.compile(r"(?<![\w.$~…/])/(?:home|root|work|Users|mnt/(?!c\b)|opt|srv)/\S*")
"""Paths of somebody's machine."""
HOSTS = re.compile(r"https?://(?:[^\s/@]*@)?([^\s/)`'\"]+)")
FINE_HOSTS = {"semver.org", "example.org", "example.com"}


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    """Each relative link names a file that is there, and its anchor a heading of it."""
    missing = []
    for link in LINK.findall(prose(page)):
        if "://" in link:
            continue
        target, _, anchor = link.partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(page), target)) if target else page
        if not os.path.exists(os.path.join(ROOT, path)) or (anchor and anchor not in anchors(path)):
            missing.append(link)
    assert missing == []


def test_the_anchors_are_those_of_the_headings() -> None:
    """The test above would pass for any anchor if all were taken for there."""
    found = anchors("docs/architecture.md")
    assert "why-run-is-quick-and-how-it-stays-so" in found
    assert "parts" in found
    assert "no-such-heading" not in found


@pytest.mark.parametrize("page", PAGES)
def test_no_place_of_somebodys_machine(page: str) -> None:
    """No page names a path or a host that only its writer has."""
    text = read(page)
    assert PLACES.findall(text) == []
    assert set(HOSTS.findall(text)) <= FINE_HOSTS


@cache
def named_in(path: str) -> frozenset[str]:
    """The tests of a file."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        tree = ast.parse(file.read())
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


@pytest.mark.parametrize("page", PAGES)
def test_tests_that_a_page_names_exist(page: str) -> None:
    """A promise is shown by a test that is there; so is every other file of the repository that is named."""
    text = read(page)
    for path, test in re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", text):
        assert test in named_in(path), f"{path}::{test}"
    for path in re.findall(r"`((?:tests|coord|cli|lua|bench|examples)/[\w/.-]*)`", text):
        assert os.path.exists(os.path.join(ROOT, path)), path


def test_every_promise_names_its_test() -> None:
    """Each row of the tables of promises has a test in its last column."""
    rows = [line for line in read("docs/guarantees.md").splitlines() if line.startswith("| ")]
    rows = [row for row in rows if "shown by" not in row]
    assert len(rows) > 20
    for row in rows:
        assert "`tests/" in row.rsplit(" | ", 1)[1], row


def targets() -> set[str]:
    with open(os.path.join(ROOT, "Makefile"), encoding="utf-8") as file:
        return set(re.findall(r"^([a-z]+):", file.read(), re.MULTILINE))


@pytest.mark.parametrize("page", ["README.md", "docs/contributing.md", "docs/install.md", "AGENTS.md"])
def test_what_is_made_can_be_made(page: str) -> None:
    """Each `make` of a page is a target of the Makefile."""
    named = {word for line in re.findall(r"(?:^|`)make((?: [A-Z]\w*=\S+)* [a-z]+)", read(page), re.MULTILINE)
             for word in line.split() if "=" not in word}  # fmt: skip
    assert named <= targets()
    assert page != "README.md" or named == {"run", "test"}


def test_readme_leads_with_two_commands() -> None:
    """The first thing to type is `make run`, then `make test`."""
    first = next(text for language, text in blocks("README.md") if language == "sh")
    assert [line.split("#")[0].strip() for line in first.splitlines()] == ["make run", "make test"]


@pytest.mark.parametrize("page", ["README.md", "docs/tutorial.md", "docs/python.md"])
def test_configurations_that_are_shown_are_valid(page: str) -> None:
    """What a page shows as a configuration can be copied."""
    shown = [text for language, text in blocks(page) if language == "jsonc"]
    assert shown
    for text in shown:
        validate(page, text.encode())


def redactions() -> list[tuple[str, str]]:
    """The rows of the table in docs/privacy.md."""
    table = read("docs/privacy.md").split("| command | what is stored |")[1].split("\n\n")[0]
    return re.findall(r"^\| `(.*?)` \| `(.*?)` \|$", table, re.MULTILINE)


def test_what_is_hidden_is_what_the_page_shows() -> None:
    """Each command of the table is stored as the table says."""
    assert len(redactions()) > 5
    for command, stored in redactions():
        assert names.redact(command) == stored


def test_what_is_not_hidden_is_said() -> None:
    """The page's own counter-example is one."""
    assert "`mysql -pabc`" in read("docs/privacy.md")
    assert names.redact("mysql -pabc") == "mysql -pabc"


def test_variables_of_the_examples_are_those_of_the_code() -> None:
    """Every OMP_COORD variable that a page names is one that the code knows."""
    known: set[str] = set()
    for folder in ("coord", "cli", "tests/chaos", "bench"):
        for place, _, files in os.walk(os.path.join(ROOT, folder)):
            for name in files:
                if name.endswith(".py"):
                    with open(os.path.join(place, name), encoding="utf-8") as file:
                        known |= set(re.findall(r"OMP_COORD\w*", file.read()))
    for page in PAGES:
        assert set(re.findall(r"\bOMP_COORD\w*", read(page))) <= known, page
