"""The TypeScript compiler of the plugin's `devDependencies`, from npm, in the cache folder of the tests."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Mapping
from hashlib import sha256

from tests.host.install import folder_of, npm

PLUGIN = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", "plugin"))


def compiler(env: Mapping[str, str]) -> str:
    """The folder whose `node_modules` has it, after installing it if need be. Raises `NoHost`."""
    with open(os.path.join(PLUGIN, "package.json"), encoding="utf-8") as file:
        wanted = json.dumps({"private": True, "devDependencies": json.load(file)["devDependencies"]})
    folder = f"{os.path.dirname(folder_of(env))}/typescript-{sha256(wanted.encode()).hexdigest()[:12]}"
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    with open(folder + ".lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.isdir(folder):
            _install(folder, wanted)
    return folder


def _install(folder: str, wanted: str) -> None:
    """Beside its place, and moved there when it is whole."""
    fresh = folder + ".new"
    shutil.rmtree(fresh, ignore_errors=True)
    os.mkdir(fresh)
    with open(f"{fresh}/package.json", "w", encoding="utf-8") as file:
        file.write(wanted)
    npm(fresh, "install", "--no-audit", "--no-fund", "--loglevel=error")
    os.rename(fresh, folder)
