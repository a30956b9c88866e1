"""Random texts as agents may type them: any characters, and commands that do something with any characters."""

from __future__ import annotations

import shlex
from collections.abc import Callable

from hypothesis import strategies as st

ANY = st.characters(exclude_characters="\0", exclude_categories=("Cs",))
"""Whatever a shell can be given: no NUL, no halves of surrogate pairs."""

EVIL = [
    "'",
    '"',
    "\\",
    "$",
    "`",
    "\n",
    "\t",
    " ",
    "!",
    "'\\''",
    "$(",
    "${x}",
    ";",
    "&&",
    "|",
    "#",
    "*",
    "~",
    "\r",
    "EOF",
    "--",
]
texts = st.lists(st.sampled_from(EVIL) | st.text(ANY, max_size=4), max_size=12).map("".join)
"""Texts in which what is special to a shell is frequent."""


def _double(text: str) -> str:
    return '"' + "".join("\\" + char if char in '"\\$`' else char for char in text) + '"'


def _ansi(text: str) -> str:
    return "$'" + "".join("\\" + char if char in "'\\" else char for char in text).replace("\n", "\\n") + "'"


def _single(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _heredoc(text: str) -> str:
    return f"received a <<'END OF {len(text)}'\n{text}\nEND OF {len(text)}\n"


def _unquoted_heredoc(text: str) -> str:
    body = "".join("\\" + char if char in "\\$`" else char for char in text)
    return f"received a <<END_{len(text)}\n{body}\nEND_{len(text)}\n"


words = st.builds(lambda quote, text: quote(text), st.sampled_from([_single, _double, _ansi, shlex.quote]), texts)


def _with(form: str) -> st.SearchStrategy[str]:
    return st.lists(words, min_size=1, max_size=3).map(lambda found: form.replace("WORDS", " ".join(found)))


FORMS = [
    "received WORDS",
    "printf %s WORDS | received x",
    "(received WORDS)",
    "x=a; { received $x WORDS; }",
    'for i in WORDS; do received "$i"; done',
    'f() { received "$@" "$#"; }; f WORDS',
    "received WORDS <<< 'x y'",
    "if false; then :; else received WORDS; fi",
    "received \\\n WORDS",
    'false || received "$(printf %s WORDS)"',
    "received WORDS # 'a comment",
    "received WORDS; (exit 7)",
    "set -e; received WORDS; false",
]
parts = st.one_of([*map(_with, FORMS), texts.map(_heredoc), texts.map(_unquoted_heredoc)])
blanks = st.sampled_from(["", " ", "\n", "\t\n "])


def commands(of: Callable[[list[str]], str] = "\n".join) -> st.SearchStrategy[str]:
    """Commands that hand random words and texts to the program `received`, in many ways of a shell."""
    return st.builds(
        lambda before, lines, after: before + of(lines) + after, blanks, st.lists(parts, min_size=1, max_size=3), blanks
    )
