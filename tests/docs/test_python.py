"""docs/python.md: its examples print what stands below them, and it knows every public name."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
from collections.abc import Iterator

import pytest

import coord
from tests.cli.place import Den, Place
from tests.docs.pages import blocks, pattern, read

PAGE = "docs/python.md"


def examples() -> list[tuple[str, str]]:
    """Each Python block with the output that follows it."""
    found = blocks(PAGE)
    return [
        (text, found[at + 1][1] if found[at + 1][0] == "text" else "")
        for at, (language, text) in enumerate(found)
        if language == "python"
    ]


@pytest.fixture(scope="module")
def folder(den: Den) -> Iterator[Place]:
    """A folder with the configuration that the page shows, and a server."""
    den.start()
    place = Place(den)
    place.write(".omp-coord.json", next(text for language, text in blocks(PAGE) if language == "jsonc"))
    yield place
    place.close()


def run(den: Den, place: Place, program: str) -> list[str]:
    """The lines that a program prints; its errors fail the test."""
    place.write("example.py", program)
    done = subprocess.run(
        [os.path.join(den.folder, "bin", "python3"), "example.py"],
        cwd=place.folder, env=place.env, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize(("program", "shown"), examples(), ids=range(len(examples())))
def test_an_example_prints_what_the_page_shows(folder: Place, program: str, shown: str) -> None:
    """Each example is a whole program, and its output is that very text."""
    printed = run(folder.den, folder, program)
    assert len(printed) == len(shown.splitlines()), printed
    for line, wanted in zip(printed, shown.splitlines(), strict=True):
        assert pattern(wanted).fullmatch(line), (wanted, line)


def test_every_public_name_stands_in_the_page() -> None:
    """What `coord` exports is described, as is every argument of its two calls and every attribute of a slot."""
    text = read(PAGE)
    words = {*coord.__all__}
    for call in (coord.Coordinator.from_cwd, coord.Coordinator.slot):
        words |= set(inspect.signature(call).parameters) - {"self"}
    words |= {"job", "fence", "lane", "queue", "coordinated", "kill_asked"}
    assert {word for word in words if not re.search(rf"\b{word}\b", text)} == set()
