"""Outputs kept as files in `golden/`. UPDATE_GOLDEN=1 writes them anew; look at the difference before keeping it."""

from __future__ import annotations

import os

FOLDER = os.path.join(os.path.dirname(__file__), "golden")


def check(name: str, text: str) -> None:
    """Whether the text is the kept one, byte for byte."""
    path = os.path.join(FOLDER, name)
    if os.environ.get("UPDATE_GOLDEN"):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    with open(path, encoding="utf-8") as file:
        assert text == file.read()
