"""Board's methods and the scripts say the same words."""

from __future__ import annotations

import inspect

import pytest

from coord import scripts
from coord.board import Board
from coord.errors import BoardFault, Unavailable
from tests.boards import policy, record
from tests.contract.test_scripts import COMMON
from tests.limited import Scope
from tests.lua import headers

METHODS = {
    name: method
    for name, method in inspect.getmembers(Board, inspect.isfunction)
    if name.split("_")[0] in ("agent", "agents", "board", "job", "line", "session", "spawn")
}


def test_every_script_has_its_method_and_every_method_its_script() -> None:
    """One method per script, of the same name."""
    assert sorted(METHODS) == scripts.names()


@pytest.mark.parametrize("name", scripts.names())
def test_arguments_have_the_same_names(name: str) -> None:
    """A method takes what its script names, the caller's own data aside."""
    wanted = [arg for arg in scripts.load(name).args if arg not in COMMON]
    assert sorted(set(inspect.signature(METHODS[name]).parameters) - {"self"}) == sorted(wanted)


@pytest.mark.parametrize("name", [name for name in scripts.names() if name != "board_read"])
def test_a_docstring_names_the_verdicts(name: str) -> None:
    """What a method says that it answers are verdicts of its script or their classes."""
    text = METHODS[name].__doc__ or ""
    from coord.answers import answer_of

    for verdict in set(headers.verdicts(name)) - {"newerSchema"}:
        kind = type(answer_of([verdict])).__name__
        assert verdict in text or f"`{kind}`" in text, verdict


def enqueue(board: Board, **more: str) -> object:
    asked = {"owner": "o", "policy": "p", "policy_json": policy(q={"slots": 1}), "record": record("a"), **more}
    return board.job_enqueue("a", "q", "default", **asked)  # type: ignore[arg-type]


def test_a_newer_board_cannot_be_used(scope: Scope, board: Board) -> None:
    """A board that a newer omp-coord made is Unavailable, and the text says what to do."""
    scope.admin.call("HSET", scope.keys.meta, "schema", "9")
    with pytest.raises(Unavailable, match=r"made by a newer omp-coord \(schema 9\); update this one"):
        board.board_sweep()


def test_a_script_that_fails_is_a_fault_that_names_it(scope: Scope, board: Board) -> None:
    """An error of a script is no verdict: it is raised, on one line, with the script's name."""
    with pytest.raises(BoardFault, match=r"^job_enqueue\.lua: [^\n]*$"):
        enqueue(board, policy_json="no json")


def test_a_server_that_refuses_is_unavailable(scope: Scope) -> None:
    """What the server forbids is no fault of a script."""
    link = scope.link()
    board = Board(link, "another-scope")
    with pytest.raises(Unavailable, match="the server refuses: NOPERM"):
        board.board_sweep()
