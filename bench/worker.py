"""A process that takes and gives back one lock, again and again: `python -m bench.worker KIND QUEUE URL`.

Reads orders from stdin, a line each, and answers each with a line of JSON:

    contend K    K times: take it, hold it for 5 ms → [[asked, entered, left, job], …] in seconds (CLOCK_MONOTONIC)
    pairs K      K times: take it and give it back at once → seconds for all
"""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

WORK_S = 0.005


def main(kind: str, queue: str, url: str) -> None:
    lock = KINDS[kind](queue, url)
    for order in sys.stdin:
        word, times = order.split()
        answer = contend(lock, int(times)) if word == "contend" else pairs(lock, int(times))
        print(json.dumps(answer), flush=True)


def contend(lock: Callable[[], Any], times: int) -> list[tuple[float, float, float, str]]:
    seen = []
    for _ in range(times):
        asked = time.monotonic()
        with lock() as held:
            entered = time.monotonic()
            job = getattr(held, "job", "")
            time.sleep(WORK_S)
            left = time.monotonic()
        seen.append((asked, entered, left, job))
    return seen


def pairs(lock: Callable[[], Any], times: int) -> float:
    begun = time.perf_counter()
    for _ in range(times):
        with lock():
            pass
    return time.perf_counter() - begun


def ours(queue: str, url: str) -> Callable[[], Any]:
    from coord import Coordinator

    coordinator = Coordinator.from_cwd()
    return lambda: coordinator.slot(queue)


def redis_py(queue: str, url: str) -> Callable[[], Any]:
    import redis

    client = redis.Redis.from_url(url)
    return lambda: client.lock(f"peer:{queue}", timeout=60)


def python_redis_lock(queue: str, url: str) -> Callable[[], Any]:
    import redis
    import redis_lock  # type: ignore[import-not-found]

    client = redis.StrictRedis.from_url(url)
    return lambda: redis_lock.Lock(client, f"peer2:{queue}", expire=60)


KINDS: dict[str, Callable[[str, str], Callable[[], Any]]] = {
    "ours": ours,
    "redis-py Lock": redis_py,
    "python-redis-lock": python_redis_lock,
}

if __name__ == "__main__":
    main(*sys.argv[1:])
