"""A state folder for tests of the command, with an embedded server of its own and a command `omp-coord` that uses it."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from coord.home import Home
from coord.server import embedded, pids
from tests.servers import START_S, short_folder
from tests.waiting import until

if TYPE_CHECKING:
    from tests.cli.place import Place

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NOBODY = "redis://127.0.0.1:1"
"""A URL where nothing listens."""

AS_FOR_USERS = "decide.IN_ALL_S = 3.0"
"""For tests of what a server that does not answer may cost; the launcher is more patient otherwise."""

LAUNCHER = f"""#!{sys.executable}
import sys
sys.path[:0] = [{ROOT!r}, {ROOT + "/cli"!r}]
from coord.server import decide
decide.LOCAL_URL = {NOBODY!r}  # a server that happens to run on this machine is none of the tests' business
decide.IN_ALL_S = {START_S}
{{more}}
from omp_coord.__main__ import main
sys.exit(main())
"""


class Den:
    """A state folder of its own, and the command `omp-coord` that uses it; `more` is Python that the command runs first,
    to set constants that no option sets."""

    def __init__(self, more: str = "") -> None:
        self.folder = short_folder()
        self.env = {
            "PATH": f"{self.folder}/bin:{os.environ['PATH']}",
            "HOME": self.folder,
            "OMP_COORD_HOME": f"{self.folder}/home",
            "USER": "tester",
            "LC_ALL": "C.UTF-8",
            "TERM": "xterm",
            "PS1": "ready> ",
        }
        self.home = Home.find(self.env)
        self.places: list[Place] = []
        self.command = f"{self.folder}/bin/omp-coord"
        os.mkdir(f"{self.folder}/bin")
        with open(self.command, "w", encoding="utf-8") as file:
            file.write(LAUNCHER.format(more=more))
        os.chmod(self.command, 0o755)

    def start(self) -> str:
        """Starts the embedded server; its URL."""
        return embedded.start(self.home, {**os.environ, **self.env}, wait=START_S).url

    def server_pid(self) -> int:
        return pids.read(self.home)["server"]

    def close(self) -> None:
        for place in list(self.places):
            place.close()  # first: a waiter starts a server that is stopped under it again
        for name in ("server", "guard"):
            pid = pids.read(self.home).get(name)
            if pid is not None:
                os.kill(pid, signal.SIGCONT)
        embedded.stop(self.home, force=True)
        until(lambda: not pids.read(self.home), "the embedded server and its guard are gone")
        shutil.rmtree(self.folder)


@contextlib.contextmanager
def den_of(more: str = "") -> Iterator[Den]:
    den = Den(more)
    try:
        yield den
    finally:
        den.close()
