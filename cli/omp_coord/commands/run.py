"""`omp-coord run` for help and completions."""

from __future__ import annotations

import sys


def run() -> None:
    """Wait for a slot of a queue, run a command, give the slot back."""
    from omp_coord.run_command import main

    sys.exit(main(sys.argv[2:]))
