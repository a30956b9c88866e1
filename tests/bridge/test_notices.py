"""What a session tells its host, on a picture that is played."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

from coord.bridge.notices import Told
from coord.bridge.picture import Picture
from coord.bridge.words import footer


class Out:
    """The host's side."""

    def __init__(self) -> None:
        self.said: list[tuple[str, dict[str, Any]]] = []

    def notify(self, method: str, params: dict[str, Any]) -> None:
        self.said.append((method, params))

    def delivered(self) -> list[str]:
        return [params["id"] for method, params in self.said if method == "deliver"]


def session(picture: Picture) -> Any:
    """A session that is joined."""
    settings = SimpleNamespace(agents=SimpleNamespace(queue_spawns=True))
    contact = SimpleNamespace(settings=settings, told=list)
    return SimpleNamespace(id="s", label="A", state="joined", picture=picture, contact=contact)


def test_a_hold_is_told_with_the_message_that_brings_it() -> None:
    """Not with the next beat, which may be two seconds away; and once, though its time moves and beats tell of it."""
    picture, out = Picture(), Out()
    told = Told(out, set())  # type: ignore[arg-type]
    picture.told("hold work 1800000300500 1800000000000001")
    told.news(session(picture))
    assert out.delivered() == ["hold-s-work-1800000000000001-1800000300500"]
    picture.told("hold work 1800000399999 1800000000000001")
    told.news(session(picture))
    assert len(out.delivered()) == 1
    picture.told("hold work 1800000499999 1800000000000002")  # another place in line, another hold
    told.news(session(picture))
    assert out.delivered()[1:] == ["hold-s-work-1800000000000002-1800000499999"]


def test_a_hold_of_five_minutes_is_one_of_five_minutes() -> None:
    """Also when the message that brings it came so quickly that the clocks seem to differ by a millisecond."""
    picture = Picture()
    picture.told(f"hold work {int(time.time() * 1000) + 300_040} 1800000000000001")
    assert footer("A", picture) == "coord A · held work 5m"


def test_a_hold_that_was_taken_back_is_told_when_it_comes_again() -> None:
    """The place in line is the same, the news is not; also for a bridge that was opened again meanwhile."""
    for shown in (set[str](), {"hold-s-work-1800000000000001-1800000300500"}):
        picture, out = Picture(), Out()
        told = Told(out, shown)  # type: ignore[arg-type]
        for until in (1800000300500, 1800000600000):
            picture.told(f"hold work {until} 1800000000000001")
            told.news(session(picture))
            picture.told("withdrawn work")
            told.news(session(picture))
        delivered = [f"hold-s-work-1800000000000001-{until}" for until in (1800000300500, 1800000600000)]
        assert out.delivered() == delivered[len(shown) :]


def test_a_hold_that_was_paused_is_told_with_its_new_time() -> None:
    """Also by a bridge that was opened again before."""
    picture, out = Picture(), Out()
    told = Told(out, {"hold-s-work-1800000000000001-1800000300500"})  # type: ignore[arg-type]
    picture.told("hold work 1800000300500 1800000000000001")
    told.news(session(picture))
    picture.holds["work"] = None  # as a beat says it during a pause
    told.news(session(picture))
    assert out.delivered() == []
    picture.told("hold work 1800000900000 1800000000000001")
    told.news(session(picture))
    assert out.delivered() == ["hold-s-work-1800000000000001-1800000900000"]
