"""The agent's id in front of its command: all agents of a session share one process, so it travels in the text itself.

    export OMP_COORD_AGENT=<id>; <command>

The rewritten text is what the conversation shows, so agents repeat it, others' tags included. Tags of this very form at
the start of a command are therefore dropped before its own one is put there. What looks like one and is not (double
quotes, `&&`, a second variable, …) is the user's command and stays.
"""

from __future__ import annotations

import re

BARE = r"[A-Za-z0-9_.@%+,:/=-]+"
QUOTED = r"'[^']*'(?:\\''[^']*')*"
WORD = f"(?:{QUOTED}|{BARE})"
"""A word that the shell takes as it stands, or one in single quotes with `'\\''` for a quote inside."""

SPACE = r"[ \t\n\r\f\v]"
_TAGS = re.compile(rf"(?:{SPACE}*export[ \t]+OMP_COORD_AGENT={WORD}[ \t]*;)+{SPACE}*")
_BARE = re.compile(BARE)


def tagged(command: str, agent: str) -> str:
    """The command with the agent's id in front."""
    return f"export OMP_COORD_AGENT={quoted(agent)}; {command}"


def untagged(command: str) -> str:
    """The command without the tags at its start, and without the white space behind them."""
    found = _TAGS.match(command)
    return command[found.end() :] if found else command


def quoted(word: str, *, always: bool = False) -> str:
    """A word as a shell reads it back, whatever it holds; in single quotes only when needed, or `always`."""
    if not always and _BARE.fullmatch(word):
        return word
    return "'" + word.replace("'", "'\\''") + "'"


def unquoted(word: str) -> str:
    """What a word of the form `WORD` says."""
    return word[1:-1].replace("'\\''", "'") if word.startswith("'") else word
