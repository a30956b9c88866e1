"""A command that counts its signals: it says `up`, `got N` for each one; `how many` asks, `end` ends it.

It waits for its input and for signals in one place. A plain `readline` would not do: Python runs a handler between two of its
own steps, so of a signal that comes in the moment before the system call blocks it would speak only when a line has come.
"""

from __future__ import annotations

import os
import select
import signal

COUNTED = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1)
counts = dict.fromkeys(COUNTED, 0)


def count(signo: int, frame: object) -> None:
    counts[signal.Signals(signo)] += 1
    os.write(1, f"got {signo}\n".encode())  # print must not be entered twice


signalled, note = os.pipe()
os.set_blocking(note, False)
signal.set_wakeup_fd(note)
for number in COUNTED:
    if signal.getsignal(number) != signal.SIG_IGN:
        signal.signal(number, count)
os.write(1, b"up\n")
typed = b""
while b"end\n" not in typed:
    ready = select.select([0, signalled], (), ())[0]
    if signalled in ready:
        os.read(signalled, 100)
    if 0 in ready and not (data := os.read(0, 100)):
        break
    elif 0 in ready:
        typed += data
        for _ in range(data.count(b"how many\n")):
            os.write(1, f"counted {' '.join(f'{int(signo)}={times}' for signo, times in counts.items())}\n".encode())
