"""A command that counts its signals: it says `up`, `got N` for each one; `how many` asks, `end` ends it."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Iterator

COUNTED = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1)
counts = dict.fromkeys(COUNTED, 0)
news, told = os.pipe()
os.set_blocking(told, False)
signal.set_wakeup_fd(told)


def count(signo: int, frame: object) -> None:
    counts[signal.Signals(signo)] += 1
    os.write(1, f"got {signo}\n".encode())  # print must not be entered twice


def lines() -> Iterator[str]:
    """The lines of stdin. A signal that comes just before a read does not end it, and Python would run its handler only after
    the next line: so both are waited for."""
    rest = b""
    while True:
        ready = select.select([0, news], (), ())[0]
        if news in ready:
            os.read(news, 4096)
        if 0 in ready:
            data = os.read(0, 4096)
            *whole, rest = (rest + data).split(b"\n")
            yield from (line.decode() for line in whole)
            if not data:
                return


for number in COUNTED:
    if signal.getsignal(number) != signal.SIG_IGN:
        signal.signal(number, count)
os.write(1, b"up\n")
for line in lines():
    if line.strip() == "end":
        break
    print("counted", " ".join(f"{int(signo)}={times}" for signo, times in counts.items()), flush=True)
