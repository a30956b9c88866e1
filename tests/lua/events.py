"""What docs/event-log.md says: event types and their fields."""

from __future__ import annotations

import os
import re

PAGE = os.path.join(os.path.dirname(__file__), "..", "..", "docs", "event-log.md")
EVERY = {"type", "at"}
"""Fields that every event has."""


def types() -> dict[str, tuple[set[str], set[str]]]:
    """Type → (fields it always has, fields it may have)."""
    found = {}
    with open(PAGE, encoding="utf-8") as page:
        for line in page:
            match = re.match(r"\| `(\w+)` \| (.*?) \|", line)
            if match:
                always = set(re.findall(r"`(\w+)`", match.group(2)))
                maybe = set(re.findall(r"`(\w+)\?`", match.group(2)))
                found[match.group(1)] = (always, maybe)
    return found


TYPES = types()


def check(event: dict[str, str]) -> None:
    """Fails when an event is not as the page says."""
    always, maybe = TYPES[event["type"]]
    fields = set(event) - EVERY
    assert event.keys() >= EVERY, event
    assert always <= fields <= always | maybe, f"{event} against docs/event-log.md: {always}, perhaps {maybe}"
