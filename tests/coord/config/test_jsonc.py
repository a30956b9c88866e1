"""JSON with comments and trailing commas, and the place of everything."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coord.config.jsonc import DEPTH, JsonError, decode, parse

numbers = st.integers(-(10**15), 10**15) | st.floats(-1e15, 1e15, allow_nan=False)
values = st.recursive(
    st.none() | st.booleans() | numbers | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(values, st.sampled_from([None, 0, 2]))
def test_plain_json_reads_as_the_standard_library_reads_it(value: object, indent: int | None) -> None:
    """Every JSON text means here what it means to `json`."""
    text = json.dumps(value, indent=indent)
    assert parse(text).value == json.loads(text)


def test_comments_and_trailing_commas_are_read_over() -> None:
    """Comments stand anywhere between values; a last comma is allowed; a `//` in a text is text."""
    text = '/* a */ { // b\n "a" /**/ : [1, /* , */ 2,], "b": "// no /* comment */", } // end'
    assert parse(text).value == {"a": [1, 2], "b": "// no /* comment */"}


def test_a_byte_order_mark_is_skipped() -> None:
    """A file saved with a BOM reads like one without."""
    assert parse(decode(b'\xef\xbb\xbf{"a": 1}')).value == {"a": 1}


@pytest.mark.parametrize(
    ("text", "line", "column", "says"),
    [
        ("", 1, 1, "end of the file"),
        ("  \n // only this", 2, 14, "end of the file"),
        ('{"a": 1', 1, 8, 'allowed are "," or "}"'),
        ('{"a": 1\n "b": 2}', 2, 2, "found a text"),
        ("{'a': 1}", 1, 2, "double quotes"),
        ("{a: 1}", 1, 2, 'found "a"'),
        ('{"a" 1}', 1, 6, '":" belongs'),
        ('{"a": nan}', 1, 7, 'found "nan"'),
        ('{"a": 01}', 1, 7, 'found "01"'),
        ('{"a": 1.}', 1, 7, 'found "1."'),
        ('{"a": 1e999}', 1, 7, "too large"),
        ('{"a": ' + "9" * 5000 + "}", 1, 7, "found"),
        ("[1, 2}", 1, 6, 'found "}"'),
        ("[,]", 1, 2, "value belongs"),
        ("{} x", 1, 4, "behind the end"),
        ('{"a": /* x', 1, 7, "never ends"),
        ('{"a": "x\n"}', 1, 9, "control character"),
        ('{"a": "x', 1, 7, "never ends"),
        ('{"a": "\\q"}', 1, 8, "escape"),
        ('{"a": "\\ud800"}', 1, 7, "surrogate"),
        ('{"é€😀": é}', 1, 9, 'found "é"'),
        ("[" * 100_000, 1, DEPTH + 2, "deeper"),
    ],
)
def test_errors_name_line_and_column(text: str, line: int, column: int, says: str) -> None:
    """A text that is no JSON is refused at its first fault, counted in characters from 1."""
    with pytest.raises(JsonError) as caught:
        parse(text)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert says in str(caught.value)
    assert str(caught.value).isprintable()


def test_bytes_that_are_no_utf8_are_named_with_their_place() -> None:
    """The first wrong byte is shown with line and column."""
    with pytest.raises(JsonError, match="0xff is not UTF-8") as caught:
        decode('{\n "é": "'.encode() + b'\xff"}')
    assert (caught.value.line, caught.value.column) == (2, 8)


def test_keys_given_twice_are_all_reported() -> None:
    """Each repetition is listed with its path, at any depth."""
    document = parse('{"a": 1, "b": {"c": 1, "c": 2}, "a": 3, "a": 4}')
    assert [path for path, _ in document.duplicates] == [("b", "c"), ("a",), ("a",)]


def test_places_of_keys_and_values() -> None:
    """Every value knows where it stands; what is not there is placed at what surrounds it."""
    document = parse('{\n  "a": [1,\n    2]\n}')
    assert document.place(("a", 1)) == (3, 5)
    assert document.place(("a",), key=True) == (2, 3)
    assert document.place(("a", 7)) == (2, 8)
    assert document.place(("x", "y")) == (1, 1)
