"""What the header of a script says: its sentence, and its verdicts with their fields."""

from __future__ import annotations

import os
import re

from coord import scripts

COMMON = ("epoch", "now", "settleMs", "suspects")
"""What lib/answer adds to every verdict of a deciding script."""


def source(name: str) -> str:
    """The text of a script or shared step as it stands in its file."""
    with open(os.path.join(scripts.FOLDER, name + ".lua"), encoding="utf-8") as file:
        return file.read()


def header(name: str) -> list[str]:
    """The comment lines at the top, without their dashes."""
    lines = source(name).splitlines()
    return [line[2:] for line in lines[: next(i for i, line in enumerate(lines) if not line.startswith("--"))]]


def verdicts(name: str) -> dict[str, tuple[str, ...]]:
    """Verdict → its own fields, in order, as the header names them."""
    found = {}
    lines = header(name)
    for line in lines[lines.index("") + 1 :]:
        match = re.match(r" (\w+(?: \w+)*)(?:   | {2,}|$)", line)
        if match:
            words = match.group(1).split()
            found[words[0]] = tuple(words[1:])
    return found


VERDICTS = {name: verdicts(name) for name in scripts.names()}


def fields(script: str, verdict: str) -> list[str]:
    """All fields of an answer, in order."""
    own = list(VERDICTS[script][verdict])
    return list(COMMON) + own if verdict not in ("newerSchema", "board", "empty") else own
