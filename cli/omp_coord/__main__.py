"""The command's entry: `run` and `bridge` have roads of their own, within 30 ms; all else goes through typer."""

from __future__ import annotations

import sys


def main() -> int:
    """Runs the command of `sys.argv`; returns the exit code."""
    argv = sys.argv[1:]
    if sys.platform == "win32":
        sys.stderr.write("omp-coord: Windows is not supported; use it inside WSL\n")
        return 2
    if argv[:1] == ["run"] and not {"--help", "-h"} & set(_before_command(argv)):
        from coord.run.signals import default_interrupt

        default_interrupt()
        from omp_coord.run_command import main as run

        return run(argv[1:])
    if argv[:1] == ["bridge"] and not {"-h", "--help"} & set(argv):
        from omp_coord.bridge_command import main as bridge

        return bridge(argv[1:])
    from omp_coord.app import main as others

    return others()


def _before_command(argv: list[str]) -> list[str]:
    return argv[: argv.index("--")] if "--" in argv else argv


if __name__ == "__main__":
    sys.exit(main())
