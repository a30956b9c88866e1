"""What a server would have on its disk: the commands that make a board again."""

from __future__ import annotations

from typing import Any

from coord.board import Board


def commands(board: Board) -> list[tuple[Any, ...]]:
    """One command for each key, or entry of the stream, of a board."""
    return [words for key in board.keys.all() for words in _of(board.link, key)]


def _of(link: Any, key: str) -> list[tuple[Any, ...]]:
    kind = link.call("TYPE", key)
    if kind == "hash":
        return [("HSET", key, *[word for pair in link.call("HGETALL", key).items() for word in pair])]
    if kind == "zset":
        found = link.call("ZRANGE", key, 0, -1, "WITHSCORES")
        return [("ZADD", key, *[word for member, score in found for word in (f"{score:.0f}", member)])]
    if kind == "stream":
        return [("XADD", key, id, *fields) for id, fields in link.call("XRANGE", key, "-", "+")]
    return []
