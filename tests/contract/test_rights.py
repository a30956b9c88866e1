"""The suite polices itself: what no script may do fails, and a board that does not fit together is seen."""

from __future__ import annotations

from typing import Any

import pytest

from coord.wire.link import ServerError
from tests.limited import PASSWORD, Scope
from tests.lua import consistent
from tests.lua.world import World


def call_as(scope: Scope, script: str, lua: str, *keys: str) -> object:
    """Runs a text as the user of a script."""
    link = scope.link()
    link.call("AUTH", scope.users[script], PASSWORD)
    return link.call("EVAL", lua, len(keys), *keys)


@pytest.mark.parametrize(
    ("script", "lua"),
    [
        ("board_read", "return redis.call('HGET', 'coord:{SCOPE}:ended', 'x')"),
        ("board_read", "return redis.call('HGET', 'coord:{SCOPE}:labels', 'x')"),
        ("job_start", "return redis.call('HGET', 'coord:{another}:jobs', 'x')"),
        ("job_start", "return redis.call('HGET', 'mine', 'x')"),
        ("job_start", "return redis.call('PUBLISH', 'coord:{another}:board', 'x')"),
        ("board_read", "return redis.call('HSET', 'coord:{SCOPE}:jobs', 'x', '1')"),
        ("job_start", "return redis.call('SET', 'coord:{SCOPE}:jobs', '1')"),
    ],
    ids=["undeclared key", "another's key", "another scope", "no board's key", "another scope's channel", "a write by a "
         "reader", "a command that no script uses"],
)  # fmt: skip
def test_what_a_script_may_not_do_fails(scope: Scope, script: str, lua: str) -> None:
    """Each script has a user of its own, limited to the keys it declares, its scope's channels and its commands."""
    with pytest.raises(ServerError, match=r"(?i)noperm|permission|The user executing the script can't"):
        call_as(scope, script, lua.replace("SCOPE", scope.name))


def test_what_a_script_declares_it_may_read(scope: Scope) -> None:
    """The users are not too narrow to prove anything: a declared key can be read."""
    assert call_as(scope, "board_read", "return redis.call('HVALS', KEYS[1])", scope.keys["JOBS"]) == []


def test_a_key_that_is_not_the_boards_is_found(scope: Scope) -> None:
    """A key beside those that coord.keys spells would fail every test; this one is put there on purpose."""
    scope.admin.call("SET", scope.keys.prefix + "extra", "1")
    assert scope.foreign_keys() == [scope.keys.prefix + "extra"]
    scope.admin.call("DEL", scope.keys.prefix + "extra")


TAMPERED: dict[str, tuple[Any, ...]] = {
    "a place in line without a job": ("ZADD", "WAITING", 0, "q|q|default|1|z"),
    "a slot without a job": ("ZADD", "RUNNING", 0, "q|q|default|1|z"),
    "a waiting job without its place": ("DEL", "WAITING"),
    "a lease without a job": ("ZADD", "LEASES", 1, "j|z"),
    "a job without a lease": ("ZREM", "LEASES", "j|a"),
    "a deadline without a grant": ("ZADD", "DEADLINES", 1, "grant|a"),
    "a turn too much": ("ZADD", "TURNS", 0, "q|default|000000|0000000000000000|z"),
    "a turn that nobody has": ("ZADD", "TURNS", 0, "q|default|000001|0000000000000001|z"),
    "a user of a policy who is gone": ("ZADD", "POLICY_USE", 0, "p|j|z"),
    "a policy that nobody uses": ("HSET", "POLICIES", "old", '{"queues":{}}'),
    "a nest without a job": ("ZADD", "NEST", 0, "i|a|z"),
    "a tombstone without its time": ("HSET", "ENDED", "z", "{}"),
    "a counter that went back": ("HSET", "META", "fence", "0000000000000001"),
    "a letter without a session": ("HSET", "LABELS", "Z", "z"),
    "a session without its letter": ("DEL", "LABELS"),
    "a session without a lease": ("ZREM", "LEASES", "s|t"),
    "an agent slot without its seats": ("DEL", "SEATS"),
    "a seat without an agent slot": ("ZADD", "SEATS", 0, "p|work|z"),
    "an agent slot of a session that is gone": ("HSET", "SLOTS", "z", '{"session":"z","kind":"main","state":"running"}'),
    "an agent that starts without a deadline": ("ZREM", "DEADLINES", "start|s1"),
    "a deadline without an agent slot": ("ZADD", "DEADLINES", 1, "end|z"),
    "half a place in a pool's line": ("ZADD", "LINE", 0, "s|s|work|1"),
    "a place in a pool's line without a session": ("ZADD", "LINE", 0, "p|work|1|z", 0, "s|z|work|1"),
    "two places in one line": ("ZADD", "LINE", 0, "p|work|1|t", 0, "s|t|work|1"),
    "a hold without a deadline": ("ZADD", "HOLDS", 0, "work|t"),
    "a hold without a place in line": ("ZADD", "HOLDS", 0, "work|s"),
    "a free slot beside a session in line": ("HSET", "LIMITS", "p|work", '{"cap":2,"effective":3}'),
    "a cap that no policy says": ("HSET", "LIMITS", "p|work", '{"cap":1,"effective":1}'),
    "a pause that forgot a hold": ("HSET", "PAUSE", "hold|work|z", 1),
    "a free slot beside a waiting job": (
        "HSET", "LIMITS", "q|q", '{"effective":2,"lanes":{"default":{"priority":0,"reserved":0}}}'),
}  # fmt: skip


@pytest.mark.parametrize("tampered", TAMPERED.values(), ids=TAMPERED.keys())
def test_a_board_that_does_not_fit_together_is_seen(scope: Scope, tampered: tuple[Any, ...]) -> None:
    """The check after every call of tests/lua fails on each kind of inconsistency."""
    world = World(scope)
    world.running("a")
    world.waiting("b")
    world.join("s")
    world.join("t")
    world.runs("s", "X")
    world.spawn("s", "s1")
    world.spawn("t", "t1")
    consistent.check(world.seen(), world.clock.ms)
    world.seed(*tampered)
    with pytest.raises(AssertionError):
        consistent.check(world.seen(), world.clock.ms)
