"""`python -m bench [-n ROUNDS] [--row N]… [--server PROGRAM]…`: prints the speed table.

It is no test and fails nothing: a row that is not met says so.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time

from bench import peers
from bench.figures import Figure, calibration_ms, table
from bench.place import Place
from bench.rows import ROWS


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Prints the speed table of omp-coord.")
    parser.add_argument("-n", type=int, default=30, metavar="ROUNDS", help="rounds of each row (default: 30)")
    parser.add_argument("--row", type=int, action="append", choices=range(1, len(ROWS) + 1), help="only this row")
    parser.add_argument("--server", action="append", metavar="PROGRAM", help="a server program, instead of the usual")
    options = parser.parse_args()
    for program in options.server or [None]:
        with Place(program) as place:
            say(f"{place.server} on {os.cpu_count()} cores, Python {platform.python_version()}, {options.n} rounds")
            if peers.missing():
                say(f"missing peers: {', '.join(peers.missing())}")
            figures = [measured(place, number, options.n) for number in options.row or range(1, len(ROWS) + 1)]
        print(table(figures), flush=True)


def measured(place: Place, number: int, rounds: int) -> Figure:
    """A row, with the machine's state around it on stderr: a figure from a busy machine is to be taken again."""
    before, begun = calibration_ms(), time.monotonic()
    try:
        figure = ROWS[number - 1](place, rounds)
    except (
        TimeoutError,
        RuntimeError,
    ) as error:  # a machine too busy for this row; the others are still worth printing
        figure = Figure(f"row {number}", "", str(error), None)
    load, after = os.getloadavg()[0], calibration_ms()
    took = time.monotonic() - begun
    say(f"row {number}: {figure.measured} ({figure.verdict}; {took:.0f} s, calibration {before:.1f} → {after:.1f} ms, "
        f"load {load:.1f})")  # fmt: skip
    return figure


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
