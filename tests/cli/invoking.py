"""A command of typer's, called in this process."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence

import typer
from typer.testing import CliRunner, Result


def invoke(app: typer.Typer, words: Sequence[str], stdin: str | None = None) -> Result:
    """What comes of the words. Lines for people go to descriptor 2, past what typer's runner sees: they are in `stderr`
    all the same."""
    with tempfile.TemporaryFile() as said:
        kept = os.dup(2)
        os.dup2(said.fileno(), 2)
        try:
            result = CliRunner().invoke(app, list(words), input=stdin)
        finally:
            os.dup2(kept, 2)
            os.close(kept)
        said.seek(0)
        result.stderr_bytes = (result.stderr_bytes or b"") + said.read()
    return result
