"""coord.view.table: plain tables of a given width."""

from __future__ import annotations

import pytest

from coord.view.table import Column, cells_of, cut, table, wrapped


def lines(columns: list[Column], *rows: list[str], width: int = 80, colour: bool = False) -> list[str]:
    return table(columns, [(cells, "green") for cells in rows], width, colour=colour)


def test_columns_are_as_wide_as_they_need() -> None:
    """Two blanks between them, numbers to the right, nothing at the end of a line."""
    columns = [Column("Name"), Column("N", right=True), Column("What")]
    assert lines(columns, ["a", "10", "x"], ["longer", "7", ""]) == ["Name     N  What", "a       10  x", "longer   7"]


def test_the_last_column_gives_way_first() -> None:
    """What does not fit is cut there; before it is hard to read, the widest others are cut."""
    columns = [Column("Name"), Column("Command")]
    assert lines(columns, ["a" * 10, "b" * 50], width=40)[1] == "a" * 10 + "  " + "b" * 27 + "…"
    (_, row) = lines(columns, ["a" * 50, "b" * 50], width=40)
    assert row == "a" * 25 + "…  " + "b" * 11 + "…"


def test_a_column_has_its_most() -> None:
    """No cell is wider than its column may be."""
    assert lines([Column("Name", 5), Column("X")], ["abcdefgh", "y"])[1] == "abcd…  y"


def test_a_last_column_that_wraps() -> None:
    """It goes on below itself."""
    columns = [Column("Name"), Column("Lanes", wraps=True)]
    assert lines(columns, ["q", "one two three four"], width=16) == ["Name  Lanes", "q     one two", "      three four"]


@pytest.mark.parametrize("width", [20, 40, 60, 80])
def test_no_line_is_wider_than_asked(width: int) -> None:
    """Whatever the cells hold, also wide characters."""
    columns = [Column("One"), Column("Two", right=True), Column("Three", wraps=True)]
    found = lines(columns, ["日本語" * 9, "1" * 30, "word " * 20 + "x" * 90], width=width)
    assert max(map(cells_of, found)) <= width


def test_colour_is_around_whole_lines() -> None:
    """Without it the text is the same."""
    columns = [Column("A"), Column("B")]
    assert lines(columns, ["x", "y"], colour=True) == ["\x1b[1mA  B\x1b[0m", "\x1b[32mx  y\x1b[0m"]


def test_wide_characters_count_twice() -> None:
    """As a terminal shows them; a text is cut to columns, not characters."""
    assert [cells_of(text) for text in ("ab", "日本", "\U0001f319", "e\u0301")] == [2, 4, 2, 1]
    assert (cut("日本語", 5), cut("日本語", 6), cut("abc", 2)) == ("日本…", "日本語", "a…")


def test_wrapped() -> None:
    """Between words; a word longer than a line is broken."""
    assert wrapped("one two three", 7) == ["one two", "three"]
    assert wrapped("a " + "x" * 12, 5) == ["a", "xxxxx", "xxxxx", "xx"]
    assert wrapped("", 5) == [""]
