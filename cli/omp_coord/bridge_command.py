"""`omp-coord bridge`: gives the bridge of `coord` its descriptors and the texts of the reading commands."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

SHOW_S = 20


def main(words: list[str]) -> int:
    """Does not return but for a usage error: the bridge ends the process."""
    from coord.run.child import keep_std_places

    keep_std_places()
    if words:
        from omp_coord.exits import Exit
        from omp_coord.say import say

        say(f"bridge takes no arguments, but got {words[0]!r} (omp-coord bridge --help)")
        return Exit.USAGE
    from coord.bridge.main import main as bridge

    return bridge(show, os.environ, own_path())


def own_path() -> str:
    """The absolute path of this command, for lines that run in any folder and with any PATH: the script that was started,
    else (`python -m omp_coord`) the one beside the interpreter, else the one on PATH; "" when there is none."""
    for found in (sys.argv[0], os.path.join(os.path.dirname(sys.executable), "omp-coord")):
        if os.path.basename(found) == "omp-coord" and os.path.isfile(found) and os.access(found, os.X_OK):
            return os.path.abspath(found)
    import shutil  # 5 ms

    on_path = shutil.which("omp-coord")
    return os.path.abspath(on_path) if on_path else ""


def show(what: Sequence[str], cwd: str) -> str:
    """What `omp-coord WHAT` prints in that folder, plain; a process of its own, so that the bridge stays small."""
    import json
    import subprocess

    from coord.errors import Unavailable

    code = (
        "import json, sys; sys.path[:] = json.loads(sys.argv.pop(1))\n"
        "from omp_coord.__main__ import main; sys.exit(main())"
    )

    path = json.dumps([os.path.abspath(entry) for entry in sys.path])
    env = {**os.environ, "NO_COLOR": "1", "COLUMNS": "80"}
    env.pop("FORCE_COLOR", None)
    try:
        ended = subprocess.run(
            [sys.executable, "-I", "-S", "-c", code, path, *what], cwd=cwd, env=env, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, errors="replace", timeout=SHOW_S, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"{' '.join(what)} does not run: {error}") from None
    if ended.returncode:
        raise Unavailable((ended.stderr.strip() or f"exit {ended.returncode}").splitlines()[-1])
    return ended.stdout
