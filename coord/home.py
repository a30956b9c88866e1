"""Where omp-coord keeps its files (design 10).

`$OMP_COORD_HOME`, else `$XDG_STATE_HOME/omp-coord`, else `~/.local/state/omp-coord`. HOT: imported by
`omp-coord run`.

Every folder handed out is 0700 and belongs to the user that asks; anything else is never used. What must not
be shared between machines (a home may be on NFS) lies in `machine`. A home that cannot be used is replaced by
a private temp folder, the same one for every call of the user, so that two runs still meet.
"""

from __future__ import annotations

import os
import stat
from _sha1 import sha1  # hashlib costs the runner 3 ms
from _thread import get_ident

from coord.errors import Unavailable
from coord.names import clean
from coord.private import private, trouble, write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SOCKET_LIMIT = 100
_TEMPS = ("/tmp", "/var/tmp")  # noqa: S108 - what is made there is checked for its owner each time
_MACHINE_IDS = ("/etc/machine-id", "/var/lib/dbus/machine-id")


class Home:
    """The places of one user on one machine.

    `root` is the home folder in use; `machine` the folder in it for this machine; `reason` says why it is a
    temp folder (None when it is not); `notice` is the line to say about that, given to whoever made that temp
    folder and to nobody later. The methods make their folder when it is missing and raise OSError when that
    fails or it isn't private.
    """

    __slots__ = ("_runtime", "machine", "notice", "reason", "root")

    def __init__(self, root: str, reason: str | None, notice: str | None, runtime: str | None) -> None:
        self.root = root
        self.machine = f"{root}/machine-{_machine()}"
        self.reason = reason
        self.notice = notice
        self._runtime = runtime

    @classmethod
    def find(cls, env: Mapping[str, str]) -> Home:
        """The home that `env` asks for, or a private temp folder. Never raises; makes nothing but that temp
        folder."""
        runtime = env.get("XDG_RUNTIME_DIR")
        asked = _asked(env)
        reason = _unusable(asked) if asked else "HOME is not set"
        if asked and reason is None:
            return cls(asked, None, None, runtime)
        root, made = _temp_folder(runtime, f"omp-coord-{os.geteuid()}")
        notice = f"{clean(reason or '')}; this user's state is kept in {root} (OMP_COORD_HOME names a better place)"
        return cls(root, reason, notice if made else None, runtime)

    def cache(self) -> str:
        """Validated configurations."""
        return self._folder(self.root, "cache")

    def trust(self) -> str:
        """Marks of the files that `config trust` was told of."""
        return self._folder(self.root, "trust")

    def scopes(self) -> str:
        """Where each scope lives: `coord.server.record`."""
        return self._folder(self.machine, "scopes")

    def epochs(self) -> str:
        """Epochs of boards this user has known: one file per scope, `coord.server.record.file_name`."""
        return self._folder(self.machine, "epochs")

    def logs(self) -> str:
        """Log files: 0600, 1 MB x 3."""
        return self._folder(self.machine, "logs")

    def server(self) -> str:
        """The embedded server's data, lock and pids."""
        return self._folder(self.machine, "server")

    def socket(self) -> str:
        """Path of the embedded server's socket, at most 100 bytes. OSError when there is no private place for
        it.

        In `server()` when it fits. Else in a folder under XDG_RUNTIME_DIR or the temp folder, which the first
        caller chooses for all: theirs may have another environment and must find the same server.
        """
        folder = self.server()
        path = folder + "/redis.sock"
        if len(os.fsencode(path)) <= SOCKET_LIMIT:
            return path
        note = folder + "/socket-path"
        known = _known_socket(note)
        if known is not None:
            return known
        tag = f"omp-coord-{os.geteuid()}-{sha1(os.fsencode(folder)).hexdigest()[:8]}"
        path = _temp_folder(self._runtime, tag)[0] + "/redis.sock"
        if len(os.fsencode(path)) > SOCKET_LIMIT:
            raise OSError(f"{path} is too long for a socket; set OMP_COORD_HOME to a shorter folder")
        return _agree(note, path)

    def _folder(self, base: str, name: str) -> str:
        # From the root down: a root that somebody else made since `find` must not be entered.
        private(self.root)
        if base is not self.root:
            private(base)
        return private(f"{base}/{name}")


def _asked(env: Mapping[str, str]) -> str | None:
    named = env.get("OMP_COORD_HOME")
    if named:
        return os.path.abspath(named)
    state = env.get("XDG_STATE_HOME", "")
    if state.startswith("/"):  # the XDG rule: a relative one is to be ignored
        return os.path.normpath(state) + "/omp-coord"
    home = env.get("HOME", "")
    if home.startswith("/"):
        return os.path.normpath(home + "/.local/state/omp-coord")
    return None


def _unusable(root: str) -> str | None:
    """Why `root` may not be used (a whole clause), None when it may; a missing one is judged by what it would
    be in."""
    try:
        problem = trouble(root)
        if problem:
            return f"{root} {problem}"
        there = root
        while problem == "" and not os.path.lexists(there):
            there = os.path.dirname(there)
        owner = os.stat(there).st_uid
    except OSError as error:
        return f"{root} cannot be used ({error.strerror})"
    if owner not in (os.geteuid(), 0):
        return f"{there} belongs to another user"
    if not os.access(there, os.W_OK | os.X_OK):
        return f"{there} cannot be written"
    return None


def _temp_folder(runtime: str | None, name: str) -> tuple[str, bool]:
    """A private folder called `name` in a temp place, and whether this call made it; the same one for every
    call.

    When others took all its names: a new one with a random name. When nothing can be made: a path that does
    not exist.
    """
    for path in _temp_names(runtime, name):
        try:
            if stat.S_ISLNK(os.lstat(path).st_mode):
                continue
            made = False
        except OSError:
            made = True
        try:
            return private(path), made
        except OSError:
            continue
    import tempfile

    try:
        return tempfile.mkdtemp(prefix=name + "-"), True
    except OSError:
        return f"{_TEMPS[0]}/{name}", True


def _temp_names(runtime: str | None, name: str) -> Iterator[str]:
    if runtime and runtime.startswith("/"):
        try:
            if os.stat(runtime).st_uid == os.geteuid():
                yield f"{runtime}/{name}"
        except OSError:
            pass
    for base in _TEMPS:
        if os.path.isdir(base):
            # Anybody may take a name in here; three more cost an attacker little, but a stray folder nothing.
            yield from (f"{base}/{name}{suffix}" for suffix in ("", "-1", "-2", "-3"))


def _known_socket(note: str) -> str | None:
    try:
        with open(note, encoding="utf-8", errors="surrogateescape") as file:
            path = file.read().strip()
        private(os.path.dirname(path))
    except OSError:
        return None  # none chosen yet, or its place is gone (a new boot, a logout), and the server with it
    return path


def _agree(note: str, path: str) -> str:
    """Writes `path` down for all; returns what another process wrote if that one was first and it can be
    used."""
    mine = f"{note}.{os.getpid()}.{get_ident()}"
    write(mine, path + "\n")
    try:
        # link, not rename: of two callers at once the second must take what the first wrote.
        os.link(mine, note)
    except FileExistsError:
        known = _known_socket(note)
        if known is not None:
            return known
        os.replace(mine, note)
        return path
    finally:
        if os.path.lexists(mine):
            os.unlink(mine)
    return path


def _machine() -> str:
    """12 hex digits that stay over boots: of the machine id, which must not be shown itself, else of the host
    name."""
    text = ""
    for path in _MACHINE_IDS:
        try:
            with open(path, "rb") as file:  # a text file would import its encoding
                text = file.read(64).decode("utf-8", "replace").strip()
        except OSError:
            continue
        if text and text != "uninitialized":
            break
        text = ""
    if not text:
        # The first label only: the rest changes with the network on some systems.
        text = os.uname().nodename.split(".")[0].lower()
    return str(sha1(b"omp-coord:" + text.encode()).hexdigest()[:12])


def unavailable(error: OSError) -> Unavailable:
    """The error for callers that need the state folder and got `error` from it."""
    what = f"{error.filename}: {error.strerror}" if error.filename else f"{error.strerror or error}"
    return Unavailable(f"the state folder cannot be used ({what}); OMP_COORD_HOME names another one")
