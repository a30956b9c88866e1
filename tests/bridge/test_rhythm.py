"""When a session beats, looks about, and gives an answer up."""

from __future__ import annotations

import pytest

from coord.bridge import rhythm
from coord.bridge.rhythm import ENDED_S, LOOK_S, PATIENCE_S, SOON_S, Rhythm


class Hands:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def hands(monkeypatch: pytest.MonkeyPatch) -> Hands:
    hands = Hands()
    monkeypatch.setattr(rhythm, "time", hands)
    return hands


def rest(it: Rhythm, hands: Hands, *, posted: bool = False, in_line: bool = False) -> float:
    return pytest.approx(it.rest(hands.now, posted=posted, in_line=in_line))


@pytest.mark.parametrize(("lease_ms", "beat_s"), [(30_000, 2.0), (8_000, 2.0), (4_000, 1.0), (1_000, 0.25)])
def test_four_beats_a_lease(hands: Hands, lease_ms: int, beat_s: float) -> None:
    """And every two seconds at least."""
    it = Rhythm(lambda: lease_ms)
    assert it.beats(hands.now)
    assert not it.beats(hands.now)
    assert rest(it, hands) == beat_s
    hands.now += beat_s
    assert it.beats(hands.now)


def test_own_doings_are_seen_soon(hands: Hands) -> None:
    it = Rhythm(lambda: 30_000)
    it.beaten()
    it.soon()
    assert rest(it, hands) == SOON_S
    hands.now += SOON_S / 2
    it.soon()
    assert rest(it, hands) == SOON_S / 2, "the first of several counts"
    it.later()
    assert rest(it, hands) == SOON_S
    it.at_once()
    assert it.beats(hands.now)


def test_a_run_that_ended(hands: Hands) -> None:
    """A beat comes when its slot is really free, beside the others."""
    it = Rhythm(lambda: 30_000)
    it.beaten()
    it.run_ended()
    assert rest(it, hands) == ENDED_S
    hands.now += ENDED_S
    assert it.beats(hands.now)
    assert rest(it, hands) == 2.0, "once"


def test_an_answer_that_does_not_come(hands: Hands) -> None:
    it = Rhythm(lambda: 30_000)
    assert it.beats(hands.now)
    it.at_once()
    assert rest(it, hands, posted=True) == PATIENCE_S, "one beat at a time"
    hands.now += PATIENCE_S
    assert not it.unanswered(hands.now)
    hands.now += 0.01
    assert it.unanswered(hands.now)


def test_looks_while_in_line(hands: Hands) -> None:
    it = Rhythm(lambda: 30_000)
    it.beaten()
    assert it.looks(hands.now)
    assert not it.looks(hands.now)
    assert (rest(it, hands), rest(it, hands, in_line=True)) == (2.0, LOOK_S)
