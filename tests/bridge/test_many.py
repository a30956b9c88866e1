"""Many bridges on one board."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from tests.bridge.host import MAIN, Host
from tests.bridge.test_sessions import sessions, slots
from tests.cli.place import Place
from tests.waiting import until

Hosts = Callable[..., Host]


def test_twenty_sessions_share_one_pool(host: Hosts, place: Place, agents: Any) -> None:
    """All ask at once: as many as the cap are let in. Each end serves the first in line, in the order of the tickets."""
    agents(pools={"work": {"cap": 3}})
    hosts = [host() for _ in range(20)]
    assert [it.label for it in hosts] == [chr(65 + n) for n in range(20)]
    asked = [(it, it.send("spawn.request", parent=MAIN, type="task", key=f"W{it.label}")) for it in hosts]
    answers = {it.label: it.answer(id)["result"] for it, id in asked}
    inside = [it for it in hosts if answers[it.label]["allowed"]]
    assert len(inside) == 3
    line = sorted((it for it in hosts if it not in inside), key=lambda it: answers[it.label]["place"])
    assert [answers[it.label]["place"] for it in line] == list(range(1, 18))
    for it in inside:
        it.started(f"W{it.label}")
    for done, following in zip([*inside, *line], line, strict=False):
        done.ended(f"W{done.label}")
        following.until_told("deliver", "held")
        assert following.spawn(key=f"W{following.label}")["allowed"]
        following.started(f"W{following.label}")
    assert all(len(it.told("deliver")) == 1 for it in line)
    assert len([one for one in slots(place).values() if one == "running"]) == 3


def test_sessions_die_at_random(host: Hosts, place: Place, agents: Any) -> None:
    """Half of ten are killed with all they hold; the others get it all, and nothing of the dead is left."""
    agents(pools={"work": {"cap": 5}})
    dice = random.Random(7)
    hosts = [host() for _ in range(10)]
    dice.shuffle(hosts)
    dead, living = hosts[:5], hosts[5:]
    for it in dead:
        it.run(f"W{it.label}")
    for it in living:
        assert not it.spawn()["allowed"]
    for it in dead:
        it.die()
    for it in living:
        it.until_told("deliver", "held")
        it.run(f"W{it.label}")
    assert sorted(sessions(place)) == sorted(it.label for it in living)
    assert sorted(slots(place)) == sorted(f"W{it.label}" for it in living)


def test_an_idle_bridge_is_small(host: Hosts, place: Place) -> None:
    """At most 32 MB, also after everything slow was asked for: that is done by processes that end."""
    it = host()
    it.call("slash.run", args="")
    place.config(agents={"pools": {"work": {"cap": 5}}})
    it.until_footer("coord A · work 0/5")

    def resident() -> int:
        with open(f"/proc/{it.bridge.pid}/status", encoding="ascii") as file:
            return int(next(line for line in file if line.startswith("VmRSS")).split()[1])

    until(lambda: resident() <= 32 * 1024, f"it has at most 32 MB ({resident()} kB)")
    with open(f"/proc/{it.bridge.pid}/maps", encoding="utf-8") as file:
        assert "pydantic" not in file.read()
