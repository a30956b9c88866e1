"""omp in a terminal, as its user has it: typed to, and read for what comes on the screen."""

from __future__ import annotations

import fcntl
import os
import re
import struct
import termios
import threading
from collections.abc import Sequence

from tests.cli.place import Place
from tests.coord.run.stage import Terminal
from tests.waiting import until

ROWS, COLUMNS = 40, 140
_CONTROL = re.compile(r"\x1b\[[0-9;:?<>=]*[a-zA-Z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[_P^][^\x1b]*\x1b\\|\r")


class Screen:
    """A terminal of a fixed size. It is read all the time, since a program stands still that nobody reads."""

    def __init__(self, place: Place, argv: Sequence[str], env: dict[str, str], folder: str) -> None:
        self.terminal = Terminal(argv, {**env, "TERM": "xterm-256color"}, folder)
        place.terminals.append(self.terminal)
        fcntl.ioctl(self.terminal.fd, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self._raw = bytearray()
        self._seen = 0
        threading.Thread(target=self._read, args=(os.dup(self.terminal.fd),), daemon=True).start()

    def _read(self, fd: int) -> None:
        try:
            while data := os.read(fd, 65536):
                self._raw += data
        except OSError:
            pass  # the program is gone
        os.close(fd)

    @property
    def drawn(self) -> str:
        """All that was ever drawn, without control sequences."""
        return _CONTROL.sub("", self._raw.decode("utf-8", "replace"))

    def shows(self, text: str, timeout: float = 60) -> str:
        """Waits until the text is drawn, behind that which was waited for before; what was drawn from there on."""
        try:
            until(lambda: text in self.drawn[self._seen :], f"the screen shows {text!r}", timeout, 0.05)
        except AssertionError as error:
            raise AssertionError(f"{error}; it showed {self.drawn[-1500:]!r}") from None
        before, self._seen = self._seen, self.drawn.index(text, self._seen) + len(text)
        return self.drawn[before:]

    def enter(self, line: str) -> None:
        """Types a line, and sends it when it stands there."""
        self.terminal.type(line)
        self.shows(line)
        self.terminal.type("\r")
