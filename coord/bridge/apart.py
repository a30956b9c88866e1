"""Slow things, beside the bridge: nothing of them delays a spawn, and what they import does not stay in its memory."""

from __future__ import annotations

import json
import os
import sys
import threading
from typing import TYPE_CHECKING, Any

from coord.config import cache
from coord.config.find import find
from coord.config.load import load
from coord.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from coord.config.settings import Settings
    from coord.home import Home

VALIDATE_S = 20
_VALIDATE = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from coord.config.load import load
from coord.errors import ConfigError
from coord.home import Home
import os
try:
    load(sys.argv[2], os.environ, Home.find(os.environ))
except ConfigError as error:
    print(json.dumps(str(error)))
"""


def load_lean(cwd: str, env: Mapping[str, str], home: Home) -> Settings | None:
    """The settings that apply to `cwd`, None when there is no file. A file that was not validated since it was written is
    validated by another process: pydantic would cost the bridge half its memory for good. Raises `ConfigError`."""
    path, _ = find(cwd, env)
    if path is None:
        return None
    if cache.read(home, path) is None:
        _validate(cwd, env)
    return load(cwd, env, home)


def _validate(cwd: str, env: Mapping[str, str]) -> None:
    import subprocess

    words = [sys.executable, "-I", "-S", "-c", _VALIDATE, json.dumps([os.path.abspath(p) for p in sys.path]), cwd]
    try:
        ended = subprocess.run(
            words, env=dict(env), stdin=subprocess.DEVNULL, capture_output=True, timeout=VALIDATE_S, check=False
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return  # it is validated here then
    if ended.returncode == 0 and ended.stdout.strip():
        raise ConfigError(json.loads(ended.stdout))


class FileMark:
    """Tells when the file that applies to a folder is another one, or was written."""

    def __init__(self, cwd: str, env: Mapping[str, str]) -> None:
        self._cwd, self._env = cwd, env
        self._seen = self._look()

    def changed(self) -> bool:
        """Whether it did since the last time this was asked."""
        before, self._seen = self._seen, self._look()
        return self._seen != before

    def _look(self) -> tuple[object, ...]:
        try:
            path, warnings = find(self._cwd, self._env)
        except ConfigError as error:
            return (str(error),)
        if path is None:
            return (None, *warnings)
        try:
            info = os.stat(path)
        except OSError:
            return (path,)
        return path, info.st_mtime_ns, info.st_ctime_ns, info.st_size, info.st_ino


class Errands:
    """Runs calls in threads; what is to be done with their results is done by whoever calls `home`, in its own thread."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._done: list[Callable[[], None]] = []

    def send(self, call: Callable[[], Any], then: Callable[[Any], None]) -> None:
        """`then` gets the result, or the exception."""

        def run() -> None:
            try:
                result = call()
            except Exception as error:
                result = error
            self._done.append(lambda: then(result))
            self._wake()

        threading.Thread(target=run, name="omp-coord-errand", daemon=True).start()

    def home(self) -> None:
        """Does what is to be done with the results that are here."""
        while self._done:
            self._done.pop(0)()
