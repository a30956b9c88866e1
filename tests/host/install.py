"""The real omp, from npm, in a cache folder: `python -m tests.host.install`, which `make host` runs.

The folder is `$OMP_HOST`, else `omp-coord-tests/omp-host` in the user's cache folder; it is some 600 MB large. It is made
beside its place and moved there when it runs, so what is there is whole. Called again, or by several at once, it installs
once.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping

from tests.host import pairing

VERSION = "18.3.4"
"""The first line of versions in which a plugin is asked before a subagent starts."""
PACKAGE = "@oh-my-pi/pi-coding-agent"


class NoHost(Exception):
    """There is no omp, and why; or it could not be installed."""


class OmpHost:
    """An installed omp: `command` runs it."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.modules = f"{folder}/node_modules"
        self.bun = f"{self.modules}/.bin/bun"
        self.cli = f"{self.modules}/{PACKAGE}/dist/cli.js"
        self.command = [self.bun, self.cli]

    def version(self) -> str | None:
        """The version that is there, None when there is none that could run."""
        try:
            with open(f"{self.modules}/{PACKAGE}/package.json", encoding="utf-8") as file:
                found = json.load(file).get("version")
        except (OSError, ValueError):
            return None
        return str(found) if os.access(self.bun, os.X_OK) and os.path.isfile(self.cli) else None

    def runs(self) -> bool:
        """Whether it starts and is the version that the tests are made for."""
        if self.version() != VERSION:
            return False
        answer = subprocess.run([*self.command, "--version"], capture_output=True, text=True, timeout=300, check=False)
        return answer.stdout.strip() == f"omp/{VERSION}"


def folder_of(env: Mapping[str, str]) -> str:
    """Where omp is, or would be installed."""
    if env.get("OMP_HOST"):
        return os.path.abspath(env["OMP_HOST"])
    cache = env.get("XDG_CACHE_HOME", "")
    if not cache.startswith("/"):
        cache = os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(cache, "omp-coord-tests", "omp-host")


def present(env: Mapping[str, str]) -> OmpHost:
    """The installed omp. Raises `NoHost`, with the line that installs it."""
    host = OmpHost(folder_of(env))
    found = host.version()
    if found != VERSION:
        there = f"omp {found} is" if found else "nothing is"
        raise NoHost(f"these tests need omp {VERSION} in {host.folder}, {there} there; `make host` installs it")
    return host


def install(env: Mapping[str, str]) -> OmpHost:
    """The installed omp, after installing it if need be. Raises `NoHost`."""
    host = OmpHost(folder_of(env))
    os.makedirs(os.path.dirname(host.folder), exist_ok=True)
    with open(host.folder + ".lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not host.runs():
            _make(host.folder)
    return host


def _make(folder: str) -> None:
    fresh = folder + ".new"
    shutil.rmtree(fresh, ignore_errors=True)
    os.mkdir(fresh)
    try:
        _whole(fresh)
        if not OmpHost(fresh).runs():
            shutil.rmtree(fresh)
            os.mkdir(fresh)
            pairing.pair(fresh, PACKAGE, VERSION, npm)
        if not OmpHost(fresh).runs():
            raise NoHost(f"omp {VERSION} was installed and does not start")
        shutil.rmtree(folder, ignore_errors=True)
        os.rename(fresh, folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _whole(folder: str) -> None:
    """The package with all that it asks for; a part that is not served leaves nothing that runs."""
    pairing.write_wanted(folder, {"bun": pairing.BUN, PACKAGE: VERSION})
    try:
        npm(folder, "install", "--no-audit", "--no-fund", "--loglevel=error")
    except NoHost as error:
        print(f"omp {VERSION} is not served whole ({error}); its parts are put together", file=sys.stderr)


def npm(folder: str, *words: str) -> str:
    """What npm prints. Raises `NoHost` when it is missing or fails."""
    try:
        ended = subprocess.run(["npm", *words], cwd=folder, capture_output=True, text=True, timeout=600, check=False)
    except FileNotFoundError:
        raise NoHost("npm is not on the PATH") from None
    except subprocess.TimeoutExpired:
        raise NoHost(f"npm {words[0]} took over 10 minutes") from None
    if ended.returncode:
        said = [line.removeprefix("npm error ") for line in ended.stderr.strip().splitlines()]
        raise NoHost(f"npm {words[0]} failed: {'; '.join(said[:2]) or 'it gives no reason'}")
    return ended.stdout


if __name__ == "__main__":
    try:
        print(f"omp {VERSION} is ready in {install(os.environ).folder}")
    except NoHost as problem:
        sys.exit(f"omp could not be installed: {problem}")
