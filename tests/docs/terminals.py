"""Terminals that type what a page shows, and wait for what it says comes then."""

from __future__ import annotations

import fcntl
import re
import struct
import termios

import pytest

from coord.errors import CoordError
from coord.keys import Keys
from coord.wire import connect
from tests.cli.place import Den, Place
from tests.coord.run.stage import Terminal
from tests.docs.pages import pattern
from tests.waiting import until

CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
PROMPT = "ready> "
PATIENCE_S = 20.0


class Window:
    """One terminal with a shell; `text` is what has come since the last line was typed."""

    def __init__(self, place: Place, folder: str) -> None:
        self.terminal = Terminal(["bash", "--norc", "--noprofile", "-i"], {**place.env, "PS1": PROMPT}, folder)
        place.terminals.append(self.terminal)
        fcntl.ioctl(self.terminal.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 160, 0, 0))
        until(lambda: self.idle, "the shell is there")

    @property
    def text(self) -> str:
        return CONTROL.sub("", self.terminal.read()).replace("\r", "\n")

    @property
    def idle(self) -> bool:
        """Whether the shell waits for a line."""
        return self.text.endswith(PROMPT)

    def type(self, line: str) -> None:
        """Types a line, or a key (`^C`). A remark is not typed: it goes on with what came already."""
        if line == "^C":
            self.terminal.type("\x03")
            until(lambda: self.idle, f"the prompt after {line}", PATIENCE_S)
        elif not line.startswith("#"):
            until(lambda: self.idle, f"the prompt before `{line}` ({self.text!r})", PATIENCE_S)
            self.terminal.seen = ""
            self.terminal.type(f"{line}\n")
            until(lambda: "\n" in self.text, f"`{line}` was read")  # the echo
            # What follows the echo is the answer. A shown line may not be found in what was typed.
            self.terminal.seen = self.text.partition("\n")[2]

    def shows(self, line: str) -> re.Match[str]:
        """Waits for a line of output."""
        wanted = pattern(line)

        def found() -> list[re.Match[str]]:
            return [match for one in self.text.split("\n") if (match := wanted.search(one))]

        try:
            return until(found, line, PATIENCE_S)[0]
        except AssertionError:
            pytest.fail(f"{line!r} did not come; the terminal shows:\n{self.text}")


class Story:
    """A page's terminals in one folder, and the board that they share."""

    def __init__(self, den: Den, scope: str) -> None:
        self.den, self.scope, self.place = den, scope, Place(den)
        self.windows: dict[str, Window] = {}
        self.job = ""

    def window(self, number: str) -> Window:
        if number not in self.windows:
            self.windows[number] = Window(self.place, self.den.folder)
        return self.windows[number]

    def tell(self, block: str) -> None:
        """Types the block's lines and checks what is shown. `JOB` in the output is a job's id, in a later line that id."""
        now: Window | None = None
        for line in block.splitlines():
            if typed := re.fullmatch(r"(\d)\$ (.*)", line):
                self.settle()
                now = self.window(typed[1])
                now.type(typed[2].replace("JOB", self.job))
            else:
                assert now is not None, line
                found = now.shows(line.replace(" JOB ", " … "))
                if " JOB " in line:
                    words = re.search(r"\b[0-9a-f]{8}\b", found[0])
                    assert words, found[0]
                    self.job = words[0]
        self.settle()

    def close(self) -> None:
        """Ends the shells and all that runs in them."""
        self.place.close()

    def settle(self) -> None:
        """Goes on when each terminal has its prompt back, or its job stands on the board: a reader takes longer."""

        def settled() -> bool:
            busy = sum(1 for window in self.windows.values() if not window.idle)
            return not busy or self.jobs() == busy

        until(settled, "each terminal has its prompt or its job", PATIENCE_S)

    def jobs(self) -> int:
        """How many jobs there are."""
        try:
            link = connect(f"unix://{self.den.home.socket()}")
        except (CoordError, OSError):
            return 0
        try:
            return int(str(link.call("HLEN", Keys(self.scope)["JOBS"])))
        finally:
            link.close()
