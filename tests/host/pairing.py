"""An omp put together from the parts that are served.

Where not every part of a version can be had, its bundle runs with the newest native part that can. The few names that it
asks of that part beyond what is there (they serve Apple systems and virtual files) are given values that do nothing:
enough for sessions, agents, bash and plugins.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tarfile
from collections.abc import Callable

BUN = "^1.3.14"
NATIVES = "@oh-my-pi/pi-natives"
WANTED = {
    "bun": BUN,
    NATIVES: "18.2.3",
    "@babel/parser": "^7.29.7",
    "@opentelemetry/api": "^1.9.1",
    "puppeteer-core": "*",
    "axe-core": "*",
}
FILES = {"": "index.js", "/vcs": "vcs.js", "/clipboard": "clipboard.js"}
"""The modules of the native part, by what stands behind its name."""
STAND_IN = (
    'new Proxy(function () {}, { get: (_, name) => name === Symbol.toPrimitive ? () => "stub" : undefined, '
    "apply: () => undefined, construct: () => ({}) })"
)


def write_wanted(folder: str, wanted: dict[str, str]) -> None:
    """The package.json of a folder that only installs."""
    with open(f"{folder}/package.json", "w", encoding="utf-8") as file:
        json.dump({"name": "omp-host", "private": True, "dependencies": wanted}, file)


def pair(folder: str, package: str, version: str, npm: Callable[..., str]) -> None:
    """Fills the folder with the bundle and the native part."""
    write_wanted(folder, WANTED)
    npm(folder, "install", "--no-audit", "--no-fund", "--loglevel=error")
    name = npm(folder, "pack", "--silent", f"{package}@{version}").strip().splitlines()[-1]
    _unpack(f"{folder}/{name}", f"{folder}/node_modules/{package}")
    os.unlink(f"{folder}/{name}")
    _stand_in(folder, f"{folder}/node_modules/{package}/dist/cli.js")


def _unpack(archive: str, target: str) -> None:
    """npm's archives have one folder, `package`."""
    with tarfile.open(archive) as tar:
        tar.extractall(target + ".new", filter="data")
    os.makedirs(os.path.dirname(target), exist_ok=True)
    os.rename(f"{target}.new/package", target)
    shutil.rmtree(target + ".new")


def _stand_in(folder: str, bundle: str) -> None:
    with open(bundle, encoding="utf-8") as file:
        text = file.read()
    for module, name in FILES.items():
        asked = re.finditer(rf'import\{{([^}}]*)\}}from"{NATIVES}{module}"', text)
        names = {word.strip().split(" as ")[0] for found in asked for word in found[1].split(",")} - {""}
        path = f"{folder}/node_modules/{NATIVES}/native/{name}"
        with open(path, encoding="utf-8") as file:
            there = file.read()
        missing = sorted(each for each in names if not re.search(rf"export[^;]*\b{re.escape(each)}\b", there))
        with open(path, "a", encoding="utf-8") as file:
            file.writelines(f"\nexport const {each} = {STAND_IN};" for each in missing)
