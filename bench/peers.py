"""The programs and packages that do something alike, as far as this machine has them."""

from __future__ import annotations

import importlib.util
import os
import shutil

PROGRAMS = {"sem": "Debian package `parallel`", "tsp": "Debian package `task-spooler`", "flock": "util-linux"}
PACKAGES = {"redis": "redis-py", "redis_lock": "python-redis-lock"}


def program(name: str) -> str | None:
    return shutil.which(name)


def package(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


def missing() -> list[str]:
    """What is not there, for a line above the table."""
    programs = [f"{name} ({where})" for name, where in PROGRAMS.items() if program(name) is None]
    return programs + [shown for name, shown in PACKAGES.items() if not package(name)]


def sem(folder: str, *command: str) -> tuple[list[str], dict[str, str]] | None:
    """`sem --fg -j1` with a semaphore of its own, as words and variables; None when there is none."""
    path = program("sem")
    if path is None:
        return None
    home = os.path.join(folder, "parallel")
    os.makedirs(home, exist_ok=True)
    # It asks for a citation on stderr once, and keeps its semaphores below this folder.
    with open(os.path.join(home, "will-cite"), "w", encoding="ascii"):
        pass
    return [path, "--fg", "-j1", "--id", "bench", *command], {"PARALLEL_HOME": home}


def tsp(folder: str, *command: str) -> tuple[list[str], dict[str, str]] | None:
    """`tsp -nf` (waits in its line, output passed through) with a spooler of its own."""
    path = program("tsp")
    return None if path is None else ([path, "-nf", *command], {"TS_SOCKET": os.path.join(folder, "tsp")})


def flock(folder: str, *command: str) -> tuple[list[str], dict[str, str]] | None:
    path = program("flock")
    return None if path is None else ([path, os.path.join(folder, "flock"), *command], {})


def stop_tsp(folder: str) -> None:
    """Ends the spooler that `tsp` started, if it did."""
    found = tsp(folder)
    if found is not None and os.path.exists(found[1]["TS_SOCKET"]):
        os.waitpid(os.posix_spawn(found[0][0], [found[0][0], "-K"], {**os.environ, **found[1]}), 0)
