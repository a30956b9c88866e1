"""docs/tutorial.md: whoever types it sees what it shows."""

from __future__ import annotations

import os

from tests.cli.place import Den
from tests.docs.pages import blocks
from tests.docs.terminals import Story


def test_every_line_of_the_tutorial(den: Den) -> None:
    """Typed into three terminals in order, each command shows what stands below it."""
    story = Story(den, "shop")
    shop = os.path.join(den.folder, "shop")
    names = {"jsonc": ".omp-coord.json", "python": "train.py"}
    try:
        for language, text in blocks("docs/tutorial.md"):
            if language == "console":
                story.tell(text)
            else:
                with open(os.path.join(shop, names[language]), "w", encoding="utf-8") as file:
                    file.write(text)
    finally:
        story.close()
