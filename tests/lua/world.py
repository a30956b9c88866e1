"""A board to play on: short words for calls, a look at everything after each of them.

Every call checks that the verdict and its fields are those of the script's header, that new events are as
docs/event-log.md says, and that the whole board fits together (`consistent`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from coord.answers import Answer, answer_of
from coord.board import Board
from tests import boards
from tests.boards import Clock
from tests.limited import Scope
from tests.lua import consistent, events, headers
from tests.lua.session_words import ONE, SessionWords
from tests.lua.snapshot import Snapshot

Vouched = dict[str, Any]


class PlainBoard(Board):
    """A board that hands on every verdict, also the one that `Board` turns into an error."""

    def understood(self, reply: Any) -> Answer:
        return answer_of(reply)


class World(SessionWords):
    """One scope. Jobs are called by short ids; a job's process is (its pid here, start "1", instance = its id)."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.fresh, self.checked = True, True
        self.boards: dict[str, Board] = {}
        self.policies = {"p": boards.policy(q=ONE, r=ONE)}
        self.pools("w", work=2)
        self.pids: dict[str, int] = {}
        self.last: Snapshot | None = None
        self.clock = Clock(self.board("m1"))
        self.ear = scope.link()
        self.last_event = "-"

    def board(self, machine: str, **common: str) -> Board:
        """The board as a machine sees it; `common` sets what that caller says of itself."""
        if machine not in self.boards:
            self.boards[machine] = self.scope.board(machine, fresh=self.fresh, kind=PlainBoard)
        board = self.boards[machine]
        board._common.update({"load": "0.00", "single": "1", "epoch": f"epoch of {machine}", **common})
        return board

    def seen(self) -> Snapshot:
        return Snapshot(self.scope)

    def call(self, name: str, on: str = "m1", *, load: str = "0.00", single: str = "1", **values: Any) -> Answer:
        """Calls a script by the method of the same name and looks at everything it did."""
        answer: Answer = getattr(self.board(on, load=load, single=single), name)(**values)
        assert list(answer.fields) == headers.fields(name, answer.verdict), f"{name} answers {answer}"
        if self.checked:
            self._look()
        return answer

    def _look(self) -> None:
        seen = Snapshot(self.scope, f"({self.last_event}" if self.last_event != "-" else "-")
        for id_, event in seen.events:
            events.check(event)
            self.last_event = id_
        consistent.check(seen, self.clock.ms)
        if self.last:
            consistent.check_step(self.last, seen, self.clock.ms)
        self.last = seen

    # The scripts.

    def enqueue(
        self, job: str, queue: str = "q", lane: str = "default", *, owner: str = "o", policy: str = "p",
        limit_ms: int | None = None, parent: str = "", session: str = "", wait: bool = True, on: str = "m1",
        load: str = "0.00", single: str = "1", **record: Any,
    ) -> Answer:  # fmt: skip
        return self.call(
            "job_enqueue", on, load=load, single=single, job=job, queue=queue, lane=lane, owner=owner,
            policy=policy, policy_json=self.policies[policy], record=self.record(job, **record), parent=parent,
            session=session, wait=wait, limit_ms=limit_ms,
        )  # fmt: skip

    def beat(
        self, job: str, state: str = "running", *, instance: str | None = None, ahead: bool = False, policy: str = "",
        on: str = "m1", load: str = "0.00", single: str = "1",
    ) -> Answer:  # fmt: skip
        return self.call(
            "job_beat", on, load=load, single=single, job=job, instance=instance or job, state=state, ahead=ahead,
            policy=policy, policy_json=self.policies.get(policy, ""),
        )  # fmt: skip

    def ask(self, job: str, **options: Any) -> Answer:
        """The beat of a waiter."""
        return self.beat(job, "waiting", **options)

    def start(self, job: str, fence: str | None = None, *, instance: str | None = None, on: str = "m1") -> Answer:
        return self.call("job_start", on, job=job, instance=instance or job, fence=fence or self.fence(job))

    def finish(
        self, job: str, fence: str | None = None, *, instance: str | None = None, outcome: str = "ok",
        code: int | None = 0, on: str = "m1", single: str = "1", **more: Any,
    ) -> Answer:  # fmt: skip
        return self.call(
            "job_finish", on, single=single, job=job, instance=instance or job, fence=fence or self.fence(job),
            outcome=outcome, code=code, **more,
        )  # fmt: skip

    def cancel(self, job: str, **options: Any) -> Answer:
        return self.call("job_cancel", job=job, **options)

    def register(
        self, job: str, state: str = "running", queue: str = "q", lane: str = "default", *, ticket: str = "",
        fence: str = "", inside: str = "", policy: str = "p", on: str = "m1", owner: str = "o",
        instance: str | None = None, **record: Any,
    ) -> Answer:  # fmt: skip
        fields = {"owner": owner, "queuedAt": self.clock.ms, **record}
        text = self.record(job, **fields)
        if instance:
            text = text.replace(f'"instance": "{job}"', f'"instance": "{instance}"')
        return self.call(
            "job_register", on, job=job, queue=queue, lane=lane, state=state, ticket=ticket, fence=fence,
            inside=inside, policy=policy, policy_json=self.policies[policy], record=text,
        )  # fmt: skip

    def sweep(self, on: str = "m1", **options: Any) -> Answer:
        return self.call("board_sweep", on, **options)

    def read(self) -> Answer:
        return self.call("board_read")

    # What happens around them.

    def policy(self, name: str, *, fallback: bool = False, lease_ms: int = 0, **queues: Any) -> None:
        """Says what the policy `name` holds from here on."""
        text = boards.policy(**queues)
        extra = ('"fallback":true,' if fallback else "") + (f'"leaseMs":{lease_ms},' if lease_ms else "")
        self.policies[name] = "{" + extra + text[1:]

    def step(self, ms: int) -> None:
        self.clock.step(ms)

    def pass_by(self, seconds: int, *beating: str, on: str = "m1") -> None:
        """Time in which these jobs beat once a second, as living ones do."""
        for _ in range(seconds):
            self.step(1000)
            for job in beating:
                self.beat(job, "waiting" if self.seen().jobs[job]["state"] in ("waiting", "away") else "running", on=on)

    def flush(self) -> None:
        """Takes the whole board away and leaves the clock as it was."""
        self.scope.flush()
        self.clock.restore()
        self.last_event, self.last = "-", None

    def unknown_before(self) -> None:
        """From here on nobody knows that nothing runs: a new board settles."""
        self.fresh = False
        for board in self.boards.values():
            board._common["fresh"] = ""

    def listen(self, *jobs: str) -> None:
        """Subscribes to the jobs' wake channels."""
        self.ear.send(*[("SUBSCRIBE", self.scope.keys.wake(job)) for job in jobs])
        self.ear.call("PING")

    def subscribe(self, channel: str) -> None:
        self.ear.send(("SUBSCRIBE", getattr(self.scope.keys, channel)))
        self.ear.call("PING")

    def heard(self, channel: str) -> list[str]:
        """What was said on a channel: of a job by its id, else `epoch` or `board`."""
        self.ear.call("PING")
        wanted = {self.scope.keys.wake(channel), self.scope.keys.channel + channel}
        return [str(push[2]) for push in self.ear.pushes if push[0] == "message" and push[1] in wanted]

    def vouch(
        self,
        *,
        on: str = "m1",
        kind: str = "job",
        pids: list[int] | None = None,
        wrong: Vouched | None = None,
        **seen: str,
    ) -> None:
        """Says with the next call of a machine what it saw: live="a b", gone="c", orphaned="d"."""
        for verdict, jobs in seen.items():
            for job in jobs.split():
                entry = {"kind": kind, "id": job, "is": verdict, "pid": self.pid(job), "start": "1", "instance": job}
                entry |= ({"pids": pids} if pids else {}) | (wrong or {})
                self.board(on).vouched.append(entry)

    def seed(self, command: str, key: str, *words: Any) -> None:
        """Writes to the board past the scripts, for what no script of this version writes."""
        self.scope.admin.call(command, self.scope.keys[key], *words)

    def pid(self, job: str) -> int:
        return self.pids.setdefault(job, 1000 + len(self.pids))

    def record(self, job: str, **fields: Any) -> str:
        return boards.record(job, pid=self.pid(job), **fields)

    def fence(self, job: str) -> str:
        """The fence of a job, or of its tombstone."""
        seen = self.seen()
        return str((seen.jobs.get(job) or seen.ended.get(job) or {}).get("fence", "0"))

    # Plays that come again and again.

    def crowd(self, number: int, **options: Any) -> None:
        """As many jobs j0, j1, … as fit or wait, unchecked on the way: that would take a while."""
        self.checked = False
        for n in range(number):
            self.enqueue(f"j{n}", **options)
        self.checked = True

    def running(self, *jobs: str, **options: Any) -> None:
        """Jobs that get a slot at once."""
        for job in jobs:
            assert self.enqueue(job, **options).verdict == "granted"

    def waiting(self, *jobs: str, **options: Any) -> None:
        """Jobs that wait and listen."""
        self.listen(*jobs)
        for job in jobs:
            assert self.enqueue(job, **options).verdict == "waiting"

    def drain(self, queue: str = "q") -> str:
        """Ends whatever runs, again and again; returns the jobs in the order in which they got their slots."""
        order: list[str] = []
        while jobs := [id_ for id_, job in self.seen().jobs.items() if job["queue"] == queue and "fence" in job]:
            granted = [id_ for id_ in jobs if self.seen().jobs[id_]["state"] == "granted"]
            order += sorted(granted, key=self.fence)
            for job in granted:
                self.start(job)
            self.finish(min(jobs, key=self.fence))
        return " ".join(order)


Step = Callable[[World], Any]


class _Do:
    """`do.enqueue("a")` is a step that calls `world.enqueue("a")` when its row is played."""

    def __getattr__(self, name: str) -> Callable[..., Step]:
        return lambda *args, **options: lambda world: getattr(world, name)(*args, **options)


do = _Do()
