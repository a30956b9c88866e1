"""A command that counts its signals: it says `up`, `got N` for each one; `how many` asks, `end` ends it."""

from __future__ import annotations

import os
import signal
import sys

COUNTED = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1)
counts = dict.fromkeys(COUNTED, 0)


def count(signo: int, frame: object) -> None:
    counts[signal.Signals(signo)] += 1
    os.write(1, f"got {signo}\n".encode())  # print must not be entered twice


for number in COUNTED:
    if signal.getsignal(number) != signal.SIG_IGN:
        signal.signal(number, count)
os.write(1, b"up\n")
for line in iter(sys.stdin.readline, ""):
    if line.strip() == "end":
        break
    print("counted", " ".join(f"{int(signo)}={times}" for signo, times in counts.items()), flush=True)
