"""Where the configuration lies: the first `.omp-coord.json` from a folder upwards that may be believed."""

from __future__ import annotations

import os
from stat import S_ISLNK, S_ISREG, S_IWOTH

from coord.errors import ConfigError
from coord.names import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FILE_NAME = ".omp-coord.json"


def find(cwd: str, env: Mapping[str, str], named: str | None = None) -> tuple[str | None, list[str]]:
    """The absolute path of the file that applies (None: none does), and warnings of files passed over.

    The search goes from `cwd` up to the home folder or the file system's border. `named` is taken instead,
    and must be usable. ConfigError when a folder cannot be searched or the file is no plain file.
    """
    if named is not None:
        return _named(os.path.join(cwd, named)), []
    warnings: list[str] = []
    for folder in _upwards(cwd, env):
        path = os.path.join(folder, FILE_NAME)
        found, reason = _judge(path)
        if found and reason is None:
            return path, warnings
        if reason is not None:
            warnings.append(f"{clean(path)} is ignored: {reason}.")
    return None, warnings


def _named(path: str) -> str:
    path = os.path.normpath(path)
    found, reason = _judge(path)
    if reason is not None:
        raise ConfigError(f"{clean(path)} cannot be used: {reason}.")
    if not found:
        raise ConfigError(f"{clean(path)} does not exist: name a configuration file, or leave --config out.")
    return path


def _upwards(cwd: str, env: Mapping[str, str]) -> Iterator[str]:
    folder, home = os.path.realpath(cwd), os.path.realpath(env.get("HOME") or "/")
    try:
        border = os.stat(folder).st_dev
    except (FileNotFoundError, NotADirectoryError):
        return  # the working folder was removed: nothing to find, and a command may still run there
    except (OSError, ValueError) as error:
        raise _unreadable(folder, error) from None
    while True:
        yield folder
        parent = os.path.dirname(folder)
        if folder in (home, parent) or _device(parent) != border:
            return
        folder = parent


def _device(folder: str) -> int | None:
    try:
        return os.stat(folder).st_dev
    except OSError:
        return None


def _judge(path: str) -> tuple[bool, str | None]:
    """Whether something lies at `path`, and why it may not be believed (None: it may)."""
    try:
        link = status = os.lstat(path)
        if S_ISLNK(link.st_mode):
            status = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return (True, "it is a link to nowhere") if os.path.islink(path) else (False, None)
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from None
    if not S_ISREG(status.st_mode):
        raise ConfigError(f"{clean(path)} is not a plain file: put a configuration there, or remove it.")
    for uid in (link.st_uid, status.st_uid):
        if uid not in (os.geteuid(), 0):
            return True, f"it belongs to another user (uid {uid})"
    if status.st_mode & S_IWOTH:
        return True, "everybody may write to it (chmod o-w makes it usable)"
    return True, None


def _unreadable(path: str, error: Exception) -> ConfigError:
    reason = clean(getattr(error, "strerror", None) or str(error))
    return ConfigError(f"{clean(path)} cannot be looked at: {reason}. Make its folder readable.")
