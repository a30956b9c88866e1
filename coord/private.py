"""Folders and files that belong to one user alone: 0700 and 0600, with the owner checked before they are
used.

HOT: imported by `omp-coord run`.
"""

from __future__ import annotations

import os
import stat
from _thread import get_ident


def private(path: str) -> str:
    """`path` as a folder of ours that nobody else may enter, made when missing. OSError when it cannot be
    that."""
    problem = trouble(path)
    if problem is None:
        return path
    if problem != "":
        raise PermissionError(f"{path} {problem}")
    _make(path)
    problem = trouble(path)
    if problem is not None:
        raise PermissionError(f"{path} {problem or 'cannot be made'}")
    return path


def own_socket(path: str) -> bool:
    """Whether `path` is a socket of ours in a private folder of ours; only such a one may be opened
    unasked."""
    try:
        info = os.lstat(path)
        return stat.S_ISSOCK(info.st_mode) and info.st_uid == os.geteuid() and trouble(os.path.dirname(path)) is None
    except OSError:
        return False


def trouble(path: str) -> str | None:
    """None when `path` is a private folder of ours (made so if it is open), "" when missing, else what is
    wrong."""
    try:
        info = os.lstat(path)
    except FileNotFoundError:
        return ""
    uid = os.geteuid()
    if stat.S_ISLNK(info.st_mode):
        # A link that another user planted would send our files, and our chmod, to a folder of their choice.
        if info.st_uid not in (uid, 0):
            return "is a link that belongs to another user"
        info = os.stat(path)
    if not stat.S_ISDIR(info.st_mode):
        return "is not a folder"
    if info.st_uid != uid:
        return "belongs to another user"
    if info.st_mode & 0o077:
        os.chmod(path, 0o700)
        if os.stat(path).st_mode & 0o077:
            return "cannot be closed to other users"
    return None


def _make(path: str) -> None:
    missing = [path]
    while not os.path.lexists(os.path.dirname(missing[-1])):
        missing.append(os.path.dirname(missing[-1]))
    for folder in reversed(missing):
        try:
            os.mkdir(folder, 0o700)
            os.chmod(folder, 0o700)  # a umask such as 0777 shuts out ourselves
        except FileExistsError:
            pass  # another process was first; the caller checks whose it is


def create(path: str, flags: int) -> int:
    """A descriptor of the file, made when missing and then 0600 whatever the umask: also one that takes away our own
    rights must not leave a file that nobody opens again. OSError."""
    try:
        fd = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return os.open(path, flags | os.O_CREAT, 0o600)
    os.fchmod(fd, 0o600)
    return fd


def write(path: str, content: str | bytes) -> None:
    """Writes a file, 0600 whatever the umask, whole or not at all. OSError."""
    mine = f"{path}.{os.getpid()}.{get_ident()}"  # threads of a program write the same files
    rest = content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content
    fd = create(mine, os.O_WRONLY | os.O_TRUNC)
    try:
        while rest:  # a disk that is nearly full takes a part without an error
            rest = rest[os.write(fd, rest) :]
        os.replace(mine, path)
    except OSError:
        os.unlink(mine)
        raise
    finally:
        os.close(fd)
