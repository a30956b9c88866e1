"""This user's note that he knows the board of a scope: when that board is lost, the new one settles before it grants."""

from __future__ import annotations

import os

from coord.private import create
from coord.server import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from coord.home import Home


class EpochNote:
    """`keep` after an answer of the board, `drop` when the last participant left it."""

    def __init__(self, home: Home, scope: str) -> None:
        self._home = home
        self._path = f"{home.machine}/epochs/{record.file_name(scope)}"

    def keep(self, epoch: str) -> None:
        """Writes the note where there is none."""
        if os.path.exists(self._path):
            return
        try:
            self._home.epochs()
            with open(self._path, "w", encoding="utf-8", opener=create) as file:
                file.write(epoch + "\n")
        except OSError:
            pass  # a full disk: the next board settles needlessly or a flush is met by the others' notes

    def drop(self) -> None:
        try:
            os.unlink(self._path)
        except OSError:
            pass  # somebody else was first
