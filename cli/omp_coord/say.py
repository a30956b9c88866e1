"""One line on stderr, cleaned of control characters, never an error of its own."""

from __future__ import annotations

import os


def say(text: str) -> None:
    """Writes `omp-coord: text`; a closed or full stderr is no reason to fail."""
    from coord.names import clean

    try:
        os.write(2, f"omp-coord: {clean(text)}\n".encode("utf-8", "replace"))
    except OSError:
        pass
