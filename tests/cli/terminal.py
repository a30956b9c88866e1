"""What the tests at a terminal share: its keys, and the question what a command ended with."""

from __future__ import annotations

from tests.coord.run.stage import Terminal

INTR, SUSP, QUIT, STOP = "\x03", "\x1a", "\x1c", "\x13"


def status(terminal: Terminal) -> int:
    """$? of the command before."""
    terminal.type("echo st''atus $? end''ed\n")
    terminal.expect("status ")
    return int(terminal.expect(" ended"))
