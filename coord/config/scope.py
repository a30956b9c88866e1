"""The board's name for a folder without a configuration: its repository's, so that worktrees share one."""

from __future__ import annotations

import os
from _sha1 import sha1

from coord.names import NAME_LIMIT, is_name

_DIGITS = 6


def scope_of(cwd: str) -> str:
    """A scope for `cwd`: the repository's name (else the folder's), `-`, and 6 hex digits of its real path.

    Read from git's own files, since starting git costs more than the whole run. Never raises.
    """
    folder = os.path.realpath(cwd)
    name, path = _repository(folder) or (os.path.basename(folder), folder)
    digest = sha1(os.fsencode(path), usedforsecurity=False).hexdigest()[:_DIGITS]
    return f"{safe_name(name)[: NAME_LIMIT - _DIGITS - 1]}-{digest}"


def safe_name(text: str) -> str:
    """`text` with every character that a name may not have as `-`; `root` for an empty one."""
    return "".join(char if is_name(char) else "-" for char in text) or "root"


def common_directory(cwd: str) -> str | None:
    """The real path of git's common directory, shared by all worktrees; None outside a repository."""
    folder = os.path.realpath(cwd)
    while True:
        found = _common_of(os.path.join(folder, ".git"))
        parent = os.path.dirname(folder)
        if found is not None or parent == folder:
            return found
        folder = parent


def _repository(folder: str) -> tuple[str, str] | None:
    common = common_directory(folder)
    if common is None:
        return None
    parent, base = os.path.split(common)
    if base == ".git":
        return os.path.basename(parent), parent
    # A bare repository (`app.git`), a submodule's (`modules/app`), or one hidden beside worktrees (`.bare`).
    return (os.path.basename(parent) if base.startswith(".") else base.removesuffix(".git")), common


def _common_of(dot_git: str) -> str | None:
    target = _first_line(dot_git)
    if target is None:
        directory = dot_git
    elif target.startswith("gitdir:"):
        directory = os.path.join(os.path.dirname(dot_git), target[7:].strip())
    else:
        return None
    if not os.path.exists(os.path.join(directory, "HEAD")):
        return None
    shared = _first_line(os.path.join(directory, "commondir"))
    return os.path.realpath(os.path.join(directory, shared.strip()) if shared else directory)


def _first_line(path: str) -> str | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (OSError, ValueError):
        return None
    try:
        return os.fsdecode(os.read(descriptor, 8192).partition(b"\n")[0])
    except OSError:  # a folder: opened like a file, but not readable as one
        return None
    finally:
        os.close(descriptor)
