"""The board and the model side by side: every call is made on both, and every answer and the whole board compared."""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Callable
from typing import Any

from coord.answers import Answer
from coord.board import Board
from coord.wire import connect
from coord.wire.link import Link
from tests.boards import Clock, timed_board
from tests.model import checks, disk
from tests.model.model import Model, Verdict
from tests.model.picture import Picture, expected
from tests.model.rules import BEAT_AND_A_HALF, TOMBSTONE_KEPT
from tests.model.runner import Runner, token
from tests.model.things import Call, Ended

PROVISIONAL = 9 * 10**15


class World:
    """One scope on a real server: machines `m1` and `m2`, one listener for all wake channels, one clock."""

    reference: type[Model] = Model

    def __init__(self, url: str, scope: str, policies: dict[str, dict[str, Any]], fresh: bool) -> None:
        self.boards: dict[str, Board] = {
            name: timed_board(url, scope, machine=name, fresh=fresh) for name in ("m1", "m2")
        }
        self.board = self.boards["m1"]
        for board in self.boards.values():
            board._common["load"] = 0.5  # this machine's own load is no part of the history
        listener = connect(url)
        assert isinstance(listener, Link)
        self.listener = listener
        self.board.link.call("FLUSHALL")
        self.clock = Clock(self.board)
        self.model = self.reference()
        self.policies = policies
        self.runners: list[Runner] = []
        self.vouches: dict[str, list[dict[str, Any]]] = {}
        self.ids = itertools.count()
        self.newest = {"ticket": 0, "fence": 0}
        self.picture = Picture(self.board)
        self.log: list[str] = []

    def close(self) -> None:
        for board in self.boards.values():
            board.link.close()
        self.listener.close()

    def places(self) -> list[tuple[str, str, str]]:
        """Every policy, queue and lane under which a runner may come."""
        return [
            (policy, queue, lane)
            for policy, said in self.policies.items()
            for queue, terms in sorted(said["queues"].items())
            for lane in ("default", *sorted(terms.get("lanes", {})))
        ]

    # --- both sides

    def both(self, name: str, machine: str, ours: Callable[[], Verdict], theirs: Callable[[Board], Answer]) -> Answer:
        """One call on the model and on the board; fails where they differ."""
        if name != "sweep" and any(self.clock.ms - how.at >= TOMBSTONE_KEPT for how in self.model.ended.values()):
            self.sweep(machine)  # whether an old tombstone is still there depends on who looked; now it is gone
        board, model, before = self.boards[machine], self.model, self.picture
        common = board._common
        board.vouched = self.vouches.pop(machine, [])
        model.begin(
            Call(
                self.clock.ms,
                machine,
                str(common["epoch"]),
                common["fresh"] == "1",
                float(str(common["load"])),
                board.vouched,
            )
        )
        verdict = ours()
        model.promote()
        answer = theirs(board)
        self.picture = Picture(self.board)
        real = self._adopt()
        self._same_answer(name, verdict, answer, real)
        self._same_board()
        self._same_wakes()
        self._holds(name, machine, before)
        return answer

    def _adopt(self) -> dict[int, int]:
        """The board's numbers for those that the model handed out in this call, having checked their order."""
        sides = self._sides()
        real: dict[int, int] = {}
        for name in self.newest:
            found = self._adopt_one(name, sides)
            for _, pairs in found.items():
                numbers = [theirs for _, theirs in sorted(pairs)]
                assert numbers == sorted(set(numbers)), f"{name}s in another order than the model's: {pairs}"
                assert numbers[0] > self.newest[name], f"a {name} that is not newer than all before: {numbers}"
                real.update(pairs)
            known = [getattr(mine, name, None) or 0 for mine, _ in sides if not isinstance(mine, Ended)]
            self.newest[name] = max([self.newest[name], *known, *(n for pairs in found.values() for _, n in pairs)])
        for key, fence in self.model.served.items():
            self.model.served[key] = real.get(fence, fence)
        return real

    def _sides(self) -> list[tuple[Any, Any]]:
        """All in the model that has a ticket or a fence, with what the board has of it."""
        sides: list[tuple[Any, Any]] = [(job, self.picture.jobs.get(job.id)) for job in self.model.jobs.values()]
        return sides + [(how, self.picture.hash["ended"].get(id)) for id, how in self.model.ended.items()]

    def _holds(self, name: str, machine: str, before: Picture) -> None:
        """What must hold after every call, whatever the model says."""
        checks.all_of(name, machine, before, self.picture, self.model)

    @staticmethod
    def _adopt_one(name: str, sides: list[tuple[Any, Any]]) -> dict[str, list[tuple[int, int]]]:
        """By queue: the model's new tickets or fences with the board's, which the model has from now on."""
        found: dict[str, list[tuple[int, int]]] = {}
        for mine, theirs in sides:
            number = getattr(mine, name, None)
            if number is not None and number >= PROVISIONAL:
                assert theirs is not None and name in theirs, f"the board lacks the {name} of {mine}"
                setattr(mine, name, int(theirs[name]))
                found.setdefault(mine.queue, []).append((number, int(theirs[name])))
        return found

    def _same_answer(self, name: str, verdict: Verdict, answer: Answer, real: dict[int, int]) -> None:
        theirs = self._told(answer)
        ours = {key: real.get(value, value) if isinstance(value, int) else value for key, value in verdict.items()}
        ours = {key: value for key, value in ours.items() if value is not None or key == "limitMs"}
        if not name.startswith("beat"):
            ours.pop("ahead", None)  # told to who asks for it
        theirs = {key: theirs.get(key) for key in ours}
        assert theirs == ours, f"{name}: the board answers {theirs}, the model {ours}"
        assert {one["id"] for one in answer.suspects} == set(self.model.suspects), f"{name}: suspects {answer.suspects}"
        rest = max(0, self.model.settle_until - self.model.now)
        assert (answer.now, answer.epoch, answer.settle_ms) == (self.model.now, self.model.epoch, rest)

    def _told(self, answer: Answer) -> dict[str, Any]:
        return checks.told(answer)

    def _expected(self) -> dict[str, Any]:
        return expected(self.model)

    def _same_board(self) -> None:
        ours, theirs = self._expected(), self._plain()
        wrong = {key: checks.difference(theirs[key], ours[key]) for key in ours if theirs[key] != ours[key]}
        assert not wrong, "\n".join(f"{key}: {how}" for key, how in wrong.items())

    def _plain(self) -> dict[str, Any]:
        return self.picture.plain()

    def _same_wakes(self) -> None:
        self.listener.call("PING")
        heard = [(str(p[1]).rsplit(":", 1)[1], str(p[2]).split()[0]) for p in self.listener.pushes if p[0] == "message"]
        self.listener.pushes.clear()
        heard, ours = sorted(heard), sorted(wake for wake in self.model.wakes if wake[0] in self.model.listening)
        assert heard == ours, f"woken: {heard}, should be {ours}"

    # --- listening

    def listen(self, id: str, on: bool = True) -> None:
        """Subscribes a waiter to its wake channel, or unsubscribes it."""
        if on == (id in self.model.listening):
            return
        self.listener.send(("SUBSCRIBE" if on else "UNSUBSCRIBE", self.board.keys.wake(id)))
        self.listener._due -= 0 if on else 1
        self.listener.call("PING")
        (self.model.listening.add if on else self.model.listening.discard)(id)

    # --- calls

    def sweep(self, machine: str) -> Answer:
        return self.both("sweep", machine, self.model.sweep, lambda board: board.board_sweep())

    def read(self) -> None:
        """`board_read` shows what the model has, and changes nothing."""
        fields, model = self.board.board_read().fields, self.model
        if not model.epoch:
            return
        late = self.clock.ms + max(0, model.lease - BEAT_AND_A_HALF)
        assert set(fields["late"].split()) == {job.id for job in model.jobs.values() if job.lease <= late}
        assert {job["id"] for job in json.loads(fields["jobs"])} == set(model.jobs)
        order = fields["order"].split()
        assert sorted(order) == sorted(job.id for job in model.jobs.values() if job.state == "waiting")
        for queue in {job.queue for job in model.jobs.values()}:
            terms = model.terms(queue)
            if terms is not None and terms["order"] == "fifo":
                line = [(-terms["lanes"][job.lane]["priority"], job.ticket, job.id) for job in model.waiting(queue)]
                assert [id for id in order if model.jobs[id].queue == queue] == [id for *_, id in sorted(line)]
        assert Picture(self.board).plain() == self.picture.plain()

    def enqueue(self, runner: Runner, lost: bool = False) -> Answer:
        content = self.policies[runner.policy]
        args = (runner.id, runner.queue, runner.lane)
        answer = self.both(
            f"enqueue {runner.id}", runner.machine,
            lambda: self.model.enqueue(
                *args, runner.owner, runner.parent, runner.wait, runner.limit_ms, runner.policy, content, runner.process
            ),
            lambda board: board.job_enqueue(
                *args, owner=runner.owner, policy=runner.policy, policy_json=json.dumps(content), parent=runner.parent or "",
                wait=runner.wait, limit_ms=runner.limit_ms, record=json.dumps({"process": runner.process, "command": "true"}),
            ),
        )  # fmt: skip
        return answer if lost else runner.hears(answer)

    def beat(self, runner: Runner, policy: str = "", instance: str | None = None, lost: bool = False) -> Answer:
        content = self.policies.get(policy)
        state = runner.state
        instance = instance or runner.id
        answer = self.both(
            f"beat {runner.id}", runner.machine,
            lambda: self.model.beat(runner.id, instance, state, policy, content),
            lambda board: board.job_beat(
                runner.id, instance, state, ahead=True, policy=policy, policy_json=json.dumps(content) if content else ""
            ),
        )  # fmt: skip
        job = self.model.jobs.get(runner.id)
        runner.policy = job.policy if job else runner.policy
        return answer if lost else runner.hears(answer, confirmed=False)

    def start(self, runner: Runner, fence: int | None, instance: str | None = None, lost: bool = False) -> Answer:
        instance = instance or runner.id
        answer = self.both(
            f"start {runner.id}", runner.machine,
            lambda: self.model.start(runner.id, instance, fence or ""),
            lambda board: board.job_start(runner.id, instance, token(fence)),
        )  # fmt: skip
        return answer if lost or instance != runner.id else runner.hears(answer)

    def finish(self, runner: Runner, fence: int | None, instance: str | None = None, lost: bool = False) -> Answer:
        instance = instance or runner.id
        answer = self.both(
            f"finish {runner.id}", runner.machine,
            lambda: self.model.finish(runner.id, instance, fence or ""),
            lambda board: board.job_finish(runner.id, instance, token(fence), "ok", code=0),
        )  # fmt: skip
        return answer if lost or instance != runner.id else runner.hears(answer)

    def cancel(self, runner: Runner, machine: str, *, own: bool, kill: bool) -> Answer:
        instance, by, reason = (runner.id, "", "") if own else ("", "somebody", "because")
        answer = self.both(
            f"cancel {runner.id}", machine,
            lambda: self.model.cancel(runner.id, instance, by, reason, kill),
            lambda board: board.job_cancel(runner.id, instance=instance, by=by, reason=reason, kill=kill),
        )  # fmt: skip
        return runner.hears(answer) if own else answer

    def register(self, runner: Runner) -> Answer:
        content, state, fence, fields = self.policies[runner.policy], runner.state, runner.fence, runner.record()
        fence = None if state == "waiting" else fence
        answer = self.both(
            f"register {runner.id}", runner.machine,
            lambda: self.model.register(
                runner.id, runner.queue, runner.lane, runner.owner, runner.parent, state, runner.ticket, fence, runner.inside,
                runner.policy, content, runner.process, runner.queued_at, runner.told_limit,
            ),
            lambda board: board.job_register(
                runner.id, runner.queue, runner.lane, state, ticket=token(runner.ticket), fence=token(fence),
                inside=runner.inside, policy=runner.policy, policy_json=json.dumps(content), record=json.dumps(fields),
            ),
        )  # fmt: skip
        return runner.hears(answer, confirmed=False)

    # --- the server's accidents

    def flush(self) -> None:
        """FLUSHALL; nobody may take the next board for a fresh one."""
        self.board.link.call("FLUSHALL")
        self.clock.restore()
        for board in self.boards.values():
            board._common["fresh"] = ""
        self.model.clear()
        self.newest = {"ticket": 0, "fence": 0}
        self.picture = Picture(self.board)

    def save(self) -> Any:
        """All that stands on the board now, as a server has it on its disk."""
        return disk.commands(self.board), copy.deepcopy(self.model), dict(self.newest)

    def load(self, saved: Any) -> None:
        """The server was killed and came back with what it had on its disk."""
        commands, model, newest = saved
        self.board.link.call("FLUSHALL")
        for words in commands:
            self.board.link.call(*words)
        listening = self.model.listening
        self.model = copy.deepcopy(model)
        self.model.listening = listening
        self.newest = dict(newest)
        self.clock.restore()
        self.picture = Picture(self.board)
