"""Names, durations, and texts made safe."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coord.errors import ConfigError
from coord.names import check_name, clean, duration, encode, is_name, nearest, redact

ROOT = Path(__file__).parents[2]
SECRET = "hunter2secretvalue"


@pytest.mark.parametrize("text", ["a", "A.b_c-9", "x" * 64, "..", "-"])
def test_good_names_are_returned(text: str) -> None:
    """A name of 1 to 64 ASCII letters, digits, dots, underscores and dashes comes back as it is."""
    assert check_name("queue", text) == text


@pytest.mark.parametrize("text", ["", "x" * 65, "a b", "ä", "a/b", "a\n", "²", "a|b", "\x1b[31m"])
def test_bad_names_are_refused_in_one_clean_line(text: str) -> None:
    """Anything else is a ConfigError that says which kind of name it is and what is allowed."""
    with pytest.raises(ConfigError) as caught:
        check_name("queue", text)
    assert str(caught.value).startswith("The queue ")
    assert str(caught.value).isprintable()


def test_nearest_ignores_case_and_gives_up_when_nothing_is_near() -> None:
    """The nearest name is found across case; a word like none of them gets none."""
    assert nearest("BIULD", ["lint", "Build"]) == "Build"
    assert nearest("zzz", ["lint", "build"]) is None
    assert nearest("x", []) is None


@given(st.text())
def test_encoded_text_is_one_field(text: str) -> None:
    """Encoded text holds no separator and no control character, and percent-decoding gives the text back."""
    encoded = encode(text)
    assert "|" not in encoded
    assert not any(char < " " or "\x7f" <= char <= "\x9f" for char in encoded)
    assert unquote(encoded) == text


def test_encode_takes_bytes_that_were_no_utf8() -> None:
    """A file name that is no UTF-8 can still be written to the board."""
    assert encode("a\udcff|").encode()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07x", "x"),
        ("\x1b]8;;http://e\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9b31mred", "red"),
        ("a\r\nb\tc", "a  b c"),
        ("a\x00\x07\x7f\x85b", "a b"),
        ("👩\u200d💻 done ✓", "👩\u200d💻 done ✓"),
        ("abc\u202egnp.exe", "abcgnp.exe"),
        ("end\x1b", "end"),
        ("\udcff", "?"),
    ],
)
def test_clean_leaves_one_harmless_line(text: str, shown: str) -> None:
    """Escape sequences go whole, line ends become blanks, emoji stay, direction overrides go."""
    assert clean(text) == shown


@given(st.text(st.characters(exclude_categories=())))
def test_clean_text_never_steers_a_terminal(text: str) -> None:
    """Whatever comes in, no control character comes out, and it can be written as UTF-8."""
    shown = clean(text)
    assert not any(char < " " or "\x7f" <= char <= "\x9f" for char in shown)
    assert shown.encode().decode() == shown


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("500ms", 0.5),
        ("90s", 90),
        ("10m", 600),
        ("1h30m", 5400),
        ("1h1m1s1ms", 3661.001),
        ("45", 45),
        ("0", 0),
        ("0.5", 0.5),
        ("1.5h", 5400),
        ("1m500ms", 60.5),
    ],
)
def test_durations(text: str, seconds: float) -> None:
    """Hours, minutes, seconds and milliseconds in that order, or a bare number of seconds."""
    assert duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "-1",
        "-5m",
        "10x",
        "m",
        "1h1h",
        "30m1h",
        "1 h",
        "1e5",
        ".5",
        "5.",
        ".",
        "1.s",
        "٣s",
        "1S",
        "inf",
        "nan",
        "9" * 30,
        "1,5h",
        "+1",
        "5mm",
        "1m 2s",
        "\x1b[31m",
    ],
)
def test_no_durations(text: str) -> None:
    """Negative, unknown, misplaced or endless ones are one clean line."""
    with pytest.raises(ConfigError) as caught:
        duration(text)
    assert str(caught.value).isprintable()


REDACTED = [
    # assignments in front of a command: all of them, whatever their name
    ("FOO=bar make CC=gcc", "FOO=*** make CC=gcc"),
    ("A=1 B='x y' C=\"z\" make", "A=*** B=*** C=*** make"),
    ("FOO= make", "FOO= make"),
    ("A[0]=b C+=d x", "A[0]=*** C+=*** x"),
    ("FOO=$(cat a b) make", "FOO=*** make"),
    ("cd x && A=b make; B=c y | D=e z", "cd x && A=*** make; B=*** y | D=*** z"),
    ("if A=b x; then B=c y; fi", "if A=*** x; then B=*** y; fi"),
    ("(A=b x) > f", "(A=*** x) > f"),
    ("export A=b C='d e'", "export A=*** C=***"),
    (["env", "-u", "X", "A=b", "cmd", "C=d"], "env -u X A=*** cmd C=d"),
    (["/usr/bin/env", "A=b", "cmd"], "/usr/bin/env A=*** cmd"),
    ("sudo -u me A=b make CC=gcc", "sudo -u me A=*** make CC=gcc"),
    # variables and options by their names
    ("make API_TOKEN=x", "make API_TOKEN=***"),
    ("make API_TOKEN=a\\ b x", "make API_TOKEN=*** x"),
    (["x", "--token", "abc", "-v"], "x --token *** -v"),
    ("x --password=hunter2 y", "x --password=*** y"),
    ("x --Api-Key='a b' y", "x --Api-Key=*** y"),
    ("x -Dpasswd=a -auth b", "x -Dpasswd=*** -auth ***"),
    ("x --no-auth -v", "x --no-auth -v"),
    ("x --token; y", "x --token; y"),
    # headers and URLs
    (["curl", "-H", "Authorization: Bearer a.b", "u"], "curl -H 'Authorization: Bearer ***' u"),
    ("curl -H 'authorization: basic YTpi' u", "curl -H 'authorization: basic ***' u"),
    ("curl -H 'X-Api-Key: a b' u", "curl -H 'X-Api-Key: ***' u"),
    ("Authorization:Basic abc", "Authorization:Basic ***"),
    ("curl https://u:p@h/x?a=1", "curl https://u:***@h/x?a=1"),
    ("redis-cli -u redis://:pa/ss@h:1/0 get x", "redis-cli -u redis://:***@h:1/0 get x"),
    ("git clone https://ghp_x@github.com/a", "git clone https://***@github.com/a"),
    ("curl h?access_token=x&b=2", "curl h?access_token=***&b=***"),
    ("npm i http://h:8080/@scope/a", "npm i http://h:8080/@scope/a"),
    ("ssh git@github.com:a/b", "ssh git@github.com:a/b"),
    # data
    (["curl", "-d", '{"password":"x y","key":12,"a":1}'], """curl -d '{"password":***,"key":***,"a":1}'"""),
    ("""curl -d '{"password": "x y", "n": 1}'""", """curl -d '{"password": ***, "n": 1}'"""),
    # commands inside commands
    (["bash", "-c", "FOO=bar make; x --token abc"], "bash -c 'FOO=*** make; x --token ***'"),
    ("bash -c 'DB=1 ./x --password=h'", "bash -c 'DB=*** ./x --password=***'"),
    ("bash -lc \"bash -c 'A=b x'\"", "bash -lc 'bash -c '\\''A=*** x'\\'''"),
    (["bash", "-c", "FOO=bar"], "bash -c FOO=***"),
    ("bash -c 'bash -c FOO=bar'", "bash -c 'bash -c FOO=***'"),
    ('echo "$(A=b x)"', "echo '$(A=*** x)'"),
    ("unclosed 'A=b c", "unclosed 'A=*** c'"),
    # nothing to hide
    ("ruff check .", "ruff check ."),
    (["a", "", "b c", "it's"], "a '' 'b c' 'it'\\''s'"),
    ("pytest tests/test_auth.py::test_x --maxfail=2", "pytest tests/test_auth.py::test_x --maxfail=2"),
    ("npm run auth:test", "npm run auth:test"),
]


@pytest.mark.parametrize(("command", "stored"), REDACTED)
def test_redact(command: str | list[str], stored: str) -> None:
    """What may be stored of a command; what is not secret stays as it was written."""
    assert redact(command) == stored


WAYS = [
    "PGPASS={} psql",
    "X=1 Y={} Z=2 cmd",
    "cmd --auth-token {}",
    "cmd --secret={}",
    "cmd CLIENT_SECRET={}",
    "curl -H Authorization:Bearer\\ {}",
    "curl -H 'Authorization: Basic {}'",
    "psql postgres://me:{}@host/db",
    "env A={} cmd",
    "export A={}",
    "true && K={} cmd",
]


@given(
    way=st.sampled_from(WAYS),
    depth=st.integers(0, 3),
    argv=st.booleans(),
    shell=st.sampled_from(["bash", "sh"]),
)
def test_no_secret_survives_any_nesting(way: str, depth: int, argv: bool, shell: str) -> None:
    """Each way to write a secret is hidden, also deep inside `bash -c`, as a text and as an argv."""
    text = way.format(SECRET)
    for _ in range(depth or ("&&" in way and argv)):  # an argv of its own has no `&&`
        text = f"{shell} -c {shlex.quote(text)}"
    assert SECRET not in redact(shlex.split(text) if argv else text, limit=10_000)


@given(st.text(max_size=300), st.integers(1, 200))
def test_redact_takes_anything(text: str, limit: int) -> None:
    """Any text gives a text that fits the limit and can be written as UTF-8."""
    for command in (text, [text], f"A={text}", ["sh", "-c", text]):
        stored = redact(command, limit)
        assert len(stored) <= limit
        assert stored.encode().decode() == stored


def test_long_commands_are_cut() -> None:
    """At most 200 characters are kept, and a cut shows."""
    assert redact("x" * 200) == "x" * 200
    stored = redact(["echo", "x" * 5000])
    assert len(stored) == 200
    assert stored.endswith("…")
    assert redact("caf\udce9").encode()


def test_plain_commands_are_stored_without_heavy_modules() -> None:
    """A command with nothing suspicious in it costs the runner no `re`."""
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r});"
        "from coord.names import redact, duration, check_name;"
        "redact(['ruff', 'check', '--select=E', 'a b']); duration('1h30m'); check_name('queue', 'a');"
        "print([m for m in ('re', 'json', 'typing', 'difflib', 'coord.redaction') if m in sys.modules])"
    )
    answer = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


@given(st.text(max_size=70))
def test_is_name_is_what_the_schema_says(text: str) -> None:
    """The quick check and the pattern in the JSON Schema agree."""
    import re

    assert is_name(text) == bool(re.fullmatch(r"[A-Za-z0-9._-]{1,64}", text))
