"""Tables of a given width in plain text: cut with `…`, wide characters counted as two, colour only around whole lines."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

GAP = 2
NARROWEST = 6
"""No column is made narrower than that, so that it can still be recognised."""
RESET = "\x1b[0m"
STYLES = {
    "bold": "\x1b[1m",
    "dim": "\x1b[2m",
    "red": "\x1b[31m",
    "green": "\x1b[32m",
    "yellow": "\x1b[33m",
    "magenta": "\x1b[35m",
    "cyan": "\x1b[36m",
}


class Column:
    """`most` columns at most, 0: as many as it needs. `right`: numbers. `last` may take what the others leave, cut there;
    with `wraps` it goes on in the next line instead."""

    __slots__ = ("most", "name", "right", "wraps")

    def __init__(self, name: str, most: int = 0, *, right: bool = False, wraps: bool = False) -> None:
        self.name, self.most, self.right, self.wraps = name, most, right, wraps


def styled(text: str, style: str, colour: bool) -> str:
    return f"{STYLES[style]}{text}{RESET}" if colour and style and text else text


def table(columns: list[Column], rows: list[tuple[list[str], str]], width: int, *, colour: bool) -> list[str]:
    """The lines of a table: its head, then each row with its style ("" = none)."""
    widths = _widths(columns, [cells for cells, _ in rows], width)
    head = _line([column.name for column in columns], columns, widths)
    lines = [styled(head, "bold", colour)]
    for cells, style in rows:
        *before, last = cells
        parts = wrapped(last, widths[-1]) if columns[-1].wraps else [last]
        lines.append(styled(_line([*before, parts[0]], columns, widths), style, colour))
        lines += [_line([*("" for _ in before), part], columns, widths) for part in parts[1:]]
    return lines


def _widths(columns: list[Column], rows: list[list[str]], width: int) -> list[int]:
    """Each as wide as it needs, the last one what is left; when that is too little, the widest others give way."""
    widths = []
    for at, column in enumerate(columns):
        needs = max([cells_of(column.name), *(cells_of(row[at]) for row in rows)])
        widths.append(min(needs, column.most or needs))
    *others, last = widths
    room = width - GAP * len(others)
    least = min(last, max(cells_of(columns[-1].name), 12))
    while others and sum(others) + least > room and max(others) > NARROWEST:
        others[others.index(max(others))] -= 1
    return [*others, max(1, min(last, room - sum(others)))]


def _line(cells: list[str], columns: list[Column], widths: list[int]) -> str:
    shown = [
        _padded(cut(cell, width), width, right=column.right)
        for cell, column, width in zip(cells, columns, widths, strict=True)
    ]
    return (" " * GAP).join(shown).rstrip()


def _padded(text: str, width: int, *, right: bool) -> str:
    space = " " * (width - cells_of(text))
    return space + text if right else text + space


def cells_of(text: str) -> int:
    """How many columns of a terminal the text takes."""
    return len(text) if text.isascii() else sum(map(_cells, text))


def _cells(char: str) -> int:
    if char.isascii():
        return 1
    from unicodedata import category, east_asian_width

    return 0 if category(char) in ("Mn", "Me", "Cf") else 2 if east_asian_width(char) in "WF" else 1


def cut(text: str, width: int) -> str:
    """The beginning of a text that is too long, with `…` at its end."""
    if cells_of(text) <= width:
        return text
    shown, left = "", width - 1
    for char in text:
        left -= _cells(char)
        if left < 0:
            break
        shown += char
    return shown + "…"


def wrapped(text: str, width: int) -> list[str]:
    """Broken into lines between words; a word that is longer than a line is broken as well."""
    lines = [""]
    for word in _pieces(text.split(" "), width):
        if lines[-1] and cells_of(lines[-1]) + 1 + cells_of(word) > width:
            lines.append(word)
        else:
            lines[-1] += (" " if lines[-1] else "") + word
    return lines


def _pieces(words: Iterable[str], width: int) -> Iterable[str]:
    for word in words:
        piece = ""
        for char in word:
            if piece and cells_of(piece) + _cells(char) > width:
                yield piece
                piece = ""
            piece += char
        yield piece
