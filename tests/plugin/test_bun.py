"""The plugin's own tests and its types, by bun and the TypeScript compiler. In CI what is missing is a failure."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterator

import pytest

from tests.bridge.conftest import POOL, settled
from tests.cli.den import den_of
from tests.cli.place import Place
from tests.host.install import NoHost, present
from tests.plugin.compiler import PLUGIN, compiler
from tests.servers import Server

FAKE = sorted(name for name in os.listdir(f"{PLUGIN}/test") if name.endswith(".test.ts") and name != "real.test.ts")
PATIENCE_MS = "30000"
SETTINGS = re.compile(r"^(OMP|PI|FAKE)_")


def needed(what: Callable[[], str]) -> str:
    try:
        return what()
    except NoHost as missing:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(str(missing))
        raise


@pytest.fixture(scope="session")
def bun() -> str:
    return needed(lambda: present(os.environ).bun)


@pytest.fixture
def place() -> Iterator[Place]:
    """A folder with a pool `work` of two slots, on a board of its own that has settled."""
    with Server("redis7") as server, den_of() as den:
        place = Place(den, server.url)
        place.config(agents={"pools": POOL})
        settled(place)
        try:
            yield place
        finally:
            place.close()


def run(words: list[str], env: dict[str, str]) -> str:
    """What it says; it must end well."""
    ended = subprocess.run(words, cwd=PLUGIN, env=env, capture_output=True, text=True, timeout=240, check=False)
    said = ended.stdout + ended.stderr
    assert ended.returncode == 0, said[-6000:]
    return said


def passed(said: str) -> None:
    """All of them, none left out."""
    assert re.search(r"^ *[1-9]\d* pass$", said, re.MULTILINE), said[-2000:]
    assert not re.search(r"^ *\d+ (skip|todo)$", said, re.MULTILINE), said[-2000:]


@pytest.mark.parametrize("name", FAKE)
def test_with_a_fake_bridge(bun: str, name: str) -> None:
    """Each file in a process of its own: the plugin's state is the process's."""
    plain = {key: value for key, value in os.environ.items() if not SETTINGS.match(key)}
    passed(run([bun, "test", "--timeout", PATIENCE_MS, f"./test/{name}"], plain))


def test_with_the_real_bridge(bun: str, place: Place) -> None:
    """The plugin, the bridge, a server."""
    env = {**place.env, "OMP_COORD_REAL": place.den.command, "OMP_COORD_REAL_CWD": place.folder}
    passed(run([bun, "test", "--timeout", PATIENCE_MS, "./test/real.test.ts"], env))


def test_types(bun: str) -> None:
    """Strict, without an error."""
    modules = needed(lambda: f"{compiler(os.environ)}/node_modules")
    run(
        [bun, f"{modules}/typescript/lib/tsc.js", "--noEmit", "-p", ".", "--typeRoots", f"{modules}/@types"],
        dict(os.environ),
    )


def test_types_are_really_checked(bun: str, tmp_path: object) -> None:
    """A wrong word in the protocol is found: the check is no empty one."""
    modules = needed(lambda: f"{compiler(os.environ)}/node_modules")
    wrong = f"{tmp_path}/wrong.ts"
    with open(wrong, "w", encoding="utf-8") as file:
        file.write(
            f'import type {{ Notice }} from "{PLUGIN}/src/nouns.ts";\n'
            'export const n: Notice = { level: "bad", text: "" };\n'
        )
    words = [bun, f"{modules}/typescript/lib/tsc.js", "--noEmit", "--strict", "--allowImportingTsExtensions", wrong]
    ended = subprocess.run(words, capture_output=True, text=True, timeout=240, check=False)
    assert "TS2322" in ended.stdout, ended.stdout
