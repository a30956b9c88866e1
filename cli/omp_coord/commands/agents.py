"""`omp-coord agents`: who runs which agents."""

from __future__ import annotations

import json

from coord.board_text import agents_text, slots_of
from omp_coord import terminal
from omp_coord.shared import AsJson, ConfigFile, RedisUrl, ScopeName, errors_reported, found_reader
from omp_coord.terminal import Colour, ColourOption


def agents(
    as_json: AsJson = False,
    scope: ScopeName = None,
    config: ConfigFile = None,
    redis: RedisUrl = None,
    color: ColourOption = Colour.AUTO,
) -> None:
    """List the agents of all sessions: whose they are, their type, their pool, what they do and since when.

    \b
    Examples:
      omp-coord agents
      omp-coord agents --json | jq '.sessions[].slots[].agent'

    \b
    Exit codes: 0 shown (also when no server runs), 2 configuration or URL not
    usable, 69 the server does not answer.
    """
    with errors_reported():
        reader = found_reader(config, redis, scope)
        picture = reader.picture()
        reader.close()
        if not as_json:
            terminal.write(agents_text(picture, width=terminal.size()[0], colour=terminal.coloured(color)))
            return
        slots = slots_of(picture)
        sessions = [
            {**one, "slots": [slot for slot in slots if slot["session"] == one["id"]]} for one in picture["sessions"]
        ]
        fields = {**{name: picture[name] for name in ("version", "scope", "now")}, "sessions": sessions}
        terminal.write(json.dumps(fields, ensure_ascii=False, indent=2) + "\n")
