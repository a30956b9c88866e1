"""What stdout can show: colour, width, height; and one way to write text to it."""

from __future__ import annotations

import io
import os
import select
import shutil
import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from coord.run.child import keep_std_places

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

STDOUT = "stdout"
"""The file name of an OSError that came of writing there."""


class Colour(StrEnum):
    """The values of --color."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


ColourOption = Annotated[
    Colour, typer.Option("--color", help="Colour the output; auto: on a terminal, as NO_COLOR and FORCE_COLOR say.")
]


def is_terminal() -> bool:
    """Whether stdout can be drawn over."""
    return sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def coloured(wish: Colour) -> bool:
    """Whether to colour: what was asked for, else NO_COLOR, else FORCE_COLOR, else on a terminal."""
    if wish is not Colour.AUTO:
        return wish is Colour.ALWAYS
    if os.environ.get("NO_COLOR"):
        return False
    forced = os.environ.get("FORCE_COLOR")
    return forced != "0" if forced else is_terminal()


def size() -> tuple[int, int]:
    """Columns and lines; 80 by 24 where there is no terminal, and COLUMNS and LINES before all else."""
    columns, lines = shutil.get_terminal_size((80, 24))
    return max(columns, 60), max(lines, 4)


def write(text: str) -> None:
    """Writes to stdout at once. What its encoding lacks is shown as `?`. Raises BrokenPipeError."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "replace").decode(encoding))
    sys.stdout.flush()


def open_streams() -> None:
    """Where the caller closed stdin, stdout or stderr stands /dev/null. Otherwise the next file or socket would take that
    number, and a line for people would be written into it. What goes wrong on stdout names it from now on."""
    keep_std_places()
    sys.stdin = sys.stdin or os.fdopen(0, encoding="utf-8")
    sys.stdout = sys.stdout or os.fdopen(1, "w", encoding="utf-8")
    sys.stderr = sys.stderr or os.fdopen(2, "w", encoding="utf-8")
    real = sys.__stdout__
    if real is not None and sys.stdout is real:
        sys.stdout = io.TextIOWrapper(
            io.BufferedWriter(_Stdout(real.fileno(), "w", closefd=False)),
            encoding=real.encoding, errors=real.errors, line_buffering=real.isatty(),
        )  # fmt: skip


class _Stdout(io.FileIO):
    """Errors of writing to stdout carry its name: nothing else tells them from those of files and sockets."""

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            while (written := super().write(data)) is None:
                select.select([], [self], [])  # whoever shares it made it non-blocking (node, ssh)
        except OSError as error:
            error.filename = STDOUT
            raise
        return written


def close_stdout() -> None:
    """Nobody reads stdout any more: what is still in its buffer goes nowhere, without an error at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
