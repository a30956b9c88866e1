"""What a session tells its host, on a picture that is played."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from coord.bridge.notices import Told
from coord.bridge.picture import Picture


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
