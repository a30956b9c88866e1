"""The agent's id in front of its command: every clause of what is taken for one, and what is not."""

from __future__ import annotations

import time

import pytest

from coord.bridge.tags import quoted, tagged, unquoted, untagged

ONE = "export OMP_COORD_AGENT=W0; "


@pytest.mark.parametrize(
    "tag",
    [
        ONE,
        "export OMP_COORD_AGENT=W0;",
        "export OMP_COORD_AGENT=W0 ;",
        "export OMP_COORD_AGENT=W0\t \t;",
        "export  \t OMP_COORD_AGENT=W0;",
        " \t\n\n export OMP_COORD_AGENT=W0;",
        "export OMP_COORD_AGENT=W0; \t\n \n",
        "export OMP_COORD_AGENT=aZ09_.@%+,:/=-;",
        "export OMP_COORD_AGENT='';",
        "export OMP_COORD_AGENT='a b';",
        "export OMP_COORD_AGENT='it'\\''s';",
        "export OMP_COORD_AGENT=''\\''';",
        "export OMP_COORD_AGENT='a;b \"$x\" \\ && ü😀\n';",
        ONE * 3,
        "export OMP_COORD_AGENT=a;\n\nexport OMP_COORD_AGENT='b' ;export\tOMP_COORD_AGENT=c;",
    ],
)
def test_a_tag_is_dropped(tag: str) -> None:
    """Tags of the very form at the start, one or more, with the white space behind them; nothing else of the command."""
    for command in ("make -j4 ", "", "'a' \"b\"\n\n", "echo export OMP_COORD_AGENT=x; ls"):
        assert untagged(tag + command) == command


@pytest.mark.parametrize(
    "command",
    [
        "export OMP_COORD_AGENT=; ls",
        'export OMP_COORD_AGENT="W0"; ls',
        "export OMP_COORD_AGENT=W\\0; ls",
        "export OMP_COORD_AGENT=W0\nls",
        "export OMP_COORD_AGENT=W0\n; ls",
        "export OMP_COORD_AGENT=W0 && ls",
        "export OMP_COORD_AGENT=W0 || ls",
        "export OMP_COORD_AGENT=W0 & ls",
        "export OMP_COORD_AGENT=W0 OTHER=1; ls",
        "export OTHER=1 OMP_COORD_AGENT=W0; ls",
        "export OMP_COORD_AGENT=W0",
        "export\nOMP_COORD_AGENT=W0; ls",
        "exportOMP_COORD_AGENT=W0; ls",
        "export OMP_COORD_AGENTS=W0; ls",
        "export OMP_COORD_AGENT =W0; ls",
        "export OMP_COORD_AGENT= W0; ls",
        "export -n OMP_COORD_AGENT=W0; ls",
        "export OMP_COORD_AGENT=$W0; ls",
        "export OMP_COORD_AGENT=$(id); ls",
        "export OMP_COORD_AGENT=W0'x'; ls",
        "export OMP_COORD_AGENT='x'W0; ls",
        "export OMP_COORD_AGENT='x; ls",
        "export OMP_COORD_AGENT='x'\\'; ls",
        "export OMP_COORD_AGENT=Wü; ls",
        "export OMP_COORD_AGENT=W*; ls",
        "export OMP_COORD_AGENT=W~; ls",
        "OMP_COORD_AGENT=W0; ls",
        "OMP_COORD_AGENT=W0 ls",
        "Export OMP_COORD_AGENT=W0; ls",
        "ls; export OMP_COORD_AGENT=W0; ls",
        "(export OMP_COORD_AGENT=W0; ls)",
        "\u00a0export OMP_COORD_AGENT=W0; ls",
        "# export OMP_COORD_AGENT=W0; ls",
        "  ls  ",
        "",
    ],
)
def test_what_is_no_tag_is_the_users_command(command: str) -> None:
    """It stays as it is, to the last blank; behind a tag as well."""
    assert untagged(command) == command
    assert untagged(ONE + command) == command.lstrip(" \t\n\r\f\v")


def test_a_tag_that_is_followed_by_what_is_none() -> None:
    """Only the real ones go."""
    assert untagged(f'{ONE}{ONE}export OMP_COORD_AGENT="x"; {ONE}ls') == f'export OMP_COORD_AGENT="x"; {ONE}ls'


@pytest.mark.parametrize(
    "agent", ["W0", "Main", "a.b-c_1@%+,:/=", "", "it's", "''", "a b;c", "ü😀", '$(x)`\\"', "a\nb"]
)
def test_every_agent_gets_a_tag_that_is_one(agent: str) -> None:
    """Quoted only when needed, taken off again whoever the next one is; so there is never more than one."""
    assert tagged("ls", "W0") == f"{ONE}ls"
    command = tagged("ls 'a' ", agent)
    for other in ("W1", agent, "x y"):
        command = tagged(untagged(command), other)
        assert command == f"export OMP_COORD_AGENT={quoted(other)}; ls 'a' "
    assert unquoted(quoted(agent)) == agent == unquoted(quoted(agent, always=True))


@pytest.mark.parametrize(
    "text",
    [
        " " * 900_000,
        "export OMP_COORD_AGENT=a;" * 40_000,
        "export OMP_COORD_AGENT='" + "x'\\''" * 200_000,
        "export " * 150_000,
    ],
)
def test_no_text_takes_long(text: str) -> None:
    """A megabyte that is nearly a tag is looked through once."""
    began = time.process_time()
    untagged(text)
    assert time.process_time() - began < 1
