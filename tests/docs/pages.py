"""The pages of documentation, as the tests of this folder read them."""

from __future__ import annotations

import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DOCS = os.path.join(ROOT, "docs")
PAGES = sorted(
    ["README.md", "AGENTS.md", "CHANGELOG.md", "lua/README.md"]
    + [f"docs/{name}" for name in os.listdir(DOCS) if name.endswith(".md")]
)
"""Relative to the root of the repository."""

FENCE = re.compile(r"^```(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def read(page: str) -> str:
    with open(os.path.join(ROOT, page), encoding="utf-8") as file:
        return file.read()


def blocks(page: str) -> list[tuple[str, str]]:
    """The fenced blocks of a page, each with its language."""
    return FENCE.findall(read(page))


def prose(page: str) -> str:
    """A page without its fenced blocks."""
    return FENCE.sub("", read(page))


def pattern(line: str) -> re.Pattern[str]:
    """What a line of shown output matches; `…` stands for anything, blanks for any blanks."""
    parts = [r"\s+".join(map(re.escape, re.split(" +", part))) for part in line.split("…")]
    return re.compile(".*?".join(parts))


def anchors(page: str) -> set[str]:
    """The anchors that a page's headings get where Markdown is shown."""
    found: set[str] = set()
    for heading in re.findall(r"^#+ +(.*?) *$", prose(page), re.MULTILINE):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
        slug = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        number = sum(1 for anchor in found if anchor == slug or re.fullmatch(rf"{re.escape(slug)}-\d+", anchor))
        found.add(f"{slug}-{number}" if number else slug)
    return found
