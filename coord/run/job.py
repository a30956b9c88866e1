"""A job's conversation with the board: asks for a slot, waits for it, holds it, gives it back.

    new → waiting → held → (finished)
           ↘ over        waiting ended for good: cancelled by somebody
    apart                no board: it runs uncoordinated and registers when there is one again

Nothing here waits by itself, but for the calls that a decision hangs on (enqueue, start, register, finish). Whoever
drives the job sleeps for as long as `pump` says, or until the connection has news, and calls `pump` again.
"""

from __future__ import annotations

import os
import time

from coord.answers import Busy, Ended, Granted, Running, Waiting
from coord.errors import BoardFault, Unavailable
from coord.run.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from coord.answers import Answer
    from coord.board import Board
    from coord.contact import Contact
    from coord.liveness import Lookout

BEAT_S = 2.0
LOOK_S = 1.0
FIRST_LOOK_S = 0.25  # who waits for less looks at nobody's process: the 20 ms that it takes would delay its start
SERVERLESS_S = 30.0  # a waiter goes on so long without a server before it runs uncoordinated
FINISH_S = 2.5  # so long may a hanging server delay the end of a job
PATIENCE_S = 3.0  # without an answer for so long the connection counts as lost


class Job:
    """One job of one queue. `state`: new, waiting, held, over, apart; `granted` is the board's word on the slot."""

    def __init__(
        self, contact: Contact, queue: str, lane: str, *, owner: str, record: Record, session: str = "",
        parent: str = "", limit_ms: int | None = None, queue_limit_ms: int | None = None, wake: str = "",
    ) -> None:  # fmt: skip
        self.id = os.urandom(8).hex()
        self.contact, self.record = contact, record
        self.queue, self.lane = queue, lane
        self.owner, self.session, self.parent = owner, session, parent
        self.limit_ms, self.queue_limit_ms = limit_ms, queue_limit_ms
        self.state, self.running_state = "new", "running"
        self.granted: Granted | None = None
        self.waiting: Waiting | None = None
        self.busy: Busy | None = None
        self.ended: Ended | None = None
        self.kill: tuple[str, str] | None = None
        self.fence = self.ticket = self.epoch = ""
        self.queued_at = self.started_at = 0
        self.wake = wake or self.id
        self.known = False  # whether the board may know of this job
        self._beat_at = self._look_at = self._posted_at = 0.0
        self._lookout: Lookout | None = None

    def enqueue(self, *, wait: bool = True) -> Answer:
        """Asks for a slot; afterwards the state is waiting or held, or unchanged for `Busy`. Raises `Unavailable`."""
        try:
            answer = self._ask(self.contact.board or self.contact.open(), wait)
        except Unavailable:
            if not self.known:
                raise
            # A connection that lay idle may have died unheard, and a server that was just started is still loading.
            answer = self._ask(self.contact.again(), wait)
        if answer.verdict == "busy" and self._sees_gone(answer):
            answer = self._ask(self._board, wait)
        self._beat_in()
        self._look_at = time.monotonic() + FIRST_LOOK_S
        self.known = answer.verdict not in ("busy", "knot")
        self._take(answer)
        return answer

    def _sees_gone(self, answer: Answer) -> bool:
        """Whether a holder is dead; the next call says so. Who does not wait has no other look, and would be refused."""
        holders: list[dict[str, Any]] = answer.holders  # type: ignore[attr-defined]
        self._vouch(self._board, holders, only_news=True)
        return any(entry["is"] == "gone" for entry in self._board.vouched)

    def _ask(self, board: Board, wait: bool) -> Answer:
        self.known, board.link.patience = True, PATIENCE_S
        try:
            return board.enter(
                (board.keys.wake(self.wake), board.keys.epoch), "job_enqueue", job=self.id, queue=self.queue,
                lane=self.lane, session=self.session, owner=self.owner, parent=self.parent, wait="1" if wait else "0",
                limit_ms="" if self.limit_ms is None else self.limit_ms, record=self.record.text(), **self._policy,
            )  # fmt: skip
        except Unavailable:
            self.contact.lose()
            raise

    def pump(self) -> float:
        """Takes what is here, does what is due, and says in how many seconds to call again."""
        now = time.monotonic()
        try:
            if self.contact.board is None:
                self._return(now)
            else:
                self._hear(self.contact.board)
                self._beat_if_due(self.contact.board, now)
        except Unavailable:
            self.contact.lose()
        except BoardFault as error:
            self.contact.fault(error)  # whatever stands on the board, no command is stopped for it
        return self._sleep(time.monotonic())

    def _hear(self, board: Board) -> None:
        if (answer := board.poll()) is not None:
            self._take(answer)
        pushes, board.link.pushes = board.link.pushes, []
        for push in pushes:
            if push[0] == "message":  # not "subscribe", by which the server confirms
                self._heard(board, str(push[1]), str(push[2]))

    def _heard(self, board: Board, channel: str, text: str) -> None:
        if channel == board.keys.epoch and text != self.epoch:
            self._register(board)
            return
        word, job, fence = [*text.split(" "), "", ""][:3]
        if job != self.id:
            return
        if word == "granted" and self.state == "waiting":
            self._start(board, fence)
        elif word in ("cancelled", "kill"):
            self._beat_at = 0.0

    def _beat_if_due(self, board: Board, now: float) -> None:
        if board.waits:
            if now - self._posted_at > PATIENCE_S:
                raise Unavailable("the server does not answer")
            return
        if self.state == "waiting" and now >= self._look_at:
            self._look_at = now + LOOK_S
            if self.waiting is not None:
                self._vouch(board, [*self.waiting.holders, *self.waiting.ahead], only_news=True)
        if now >= self._beat_at and self.state in ("waiting", "held"):
            self._beat(board)

    def _beat(self, board: Board) -> None:
        self._beat_in()
        self._posted_at = time.monotonic()
        board.weigh()
        policy, policy_json = self.contact.policy_news(self.queue, self.lane)
        board.post(
            "job_beat", job=self.id, instance=self.record.instance, ahead="1" if self.state == "waiting" else "",
            state=self.running_state if self.state == "held" else "waiting", policy=policy, policy_json=policy_json,
        )  # fmt: skip

    def tell(self, running_state: str, *, within: float = 0.0) -> None:
        """Says `running` or `stopped` at once; waits up to `within` seconds until the board has taken it in."""
        self.running_state, self._beat_at = running_state, 0.0
        end = time.monotonic() + within
        self.pump()
        while (board := self.contact.board) is not None and (left := end - time.monotonic()) > 0:
            if not board.waits and self._beat_at:
                return
            self.contact.listen(left)
            self.pump()

    def _beat_in(self, most: float = BEAT_S) -> None:
        """A lease is beaten four times over, also a short one."""
        self._beat_at = time.monotonic() + min(most, BEAT_S, self.contact.settings.lease_ms / 4000)

    def _sleep(self, now: float) -> float:
        """Seconds until something is due."""
        if self.contact.board is None:
            due = self.contact.retry_in
        else:
            next_at = min(self._beat_at, self._look_at) if self.state == "waiting" else self._beat_at
            if self.contact.board.waits:
                next_at = self._posted_at + PATIENCE_S
            due = max(0.0, next_at - now)
        return min(due, self._lookout.tick(now)) if self._lookout else due

    def _take(self, answer: Answer) -> None:
        self.contact.knows(answer)
        self.epoch = answer.epoch
        if self._forgotten(answer):
            self._register(self._board)
        elif isinstance(answer, Granted) and answer.verdict == "granted" and self.state == "waiting":
            self._start(self._board, answer.fence)
        elif isinstance(answer, Granted):
            self._hold(answer)
        elif isinstance(answer, Busy):
            self.busy = answer
        elif isinstance(answer, Waiting):
            self.state, self.waiting, self.ticket = "waiting", answer, answer.ticket
            self.queued_at, self.owner = answer.queued_at, answer.owner
            if answer.settle_ms:
                self._beat_in(answer.settle_ms / 1000 + 0.005)
        elif isinstance(answer, Running):
            if answer.kill_by and self.kill is None:
                self.kill = (answer.kill_by, answer.kill_reason)
        elif isinstance(answer, Ended):
            self.state, self.ended = "over" if self.state != "held" else "held", answer
        elif answer.verdict == "notYours":
            raise BoardFault(f"job {self.id} belongs to another process")
        if suspects := answer.suspects:
            self._vouch(self._board, suspects)

    def _forgotten(self, answer: Answer) -> bool:
        """Whether the board lost this job, or that it runs: a server that lost its last second, a replica."""
        if self.state == "held" and isinstance(answer, (Waiting, Granted)):
            return True
        return answer.verdict == "unknown" or (isinstance(answer, Ended) and answer.how == "lost")

    @property
    def _policy(self) -> dict[str, str]:
        return dict(zip(("policy", "policy_json"), self.contact.settings.policy_for(self.queue), strict=True))

    @property
    def _board(self) -> Board:
        board = self.contact.board
        if board is None:
            raise Unavailable("lost the server")
        return board

    def _hold(self, answer: Granted) -> None:
        self.state, self.granted = "held", answer
        self.fence = answer.fence
        self.ticket = answer.ticket or self.ticket
        self.owner = answer.owner or self.owner
        self.started_at = self.started_at or answer.now

    def _start(self, board: Board, fence: str) -> None:
        answer = board.job_start(self.id, self.record.instance, fence)
        if isinstance(answer, Granted):
            self._hold(answer)
        else:
            self._beat_at = 0.0  # the grant lapsed or was taken back: the next ask tells what is so now

    def _register(self, board: Board) -> None:
        """Comes back with all this job really has: a slot that it holds, or its place."""
        self.known = True
        held = self.state in ("held", "apart")
        answer = board.job_register(
            self.id, self.queue, self.lane, self.running_state if held else "waiting", ticket=self.ticket,
            fence=self.fence if held else "", inside=self.granted.inside if self.granted else "",
            record=self.record.whole(self), **self._policy,
        )  # fmt: skip
        self.contact.knows(answer)
        self._beat_in()
        self.epoch = answer.epoch
        if held and answer.verdict == "running":
            self.state = "held"
            self.fence = answer.fields.get("fence", self.fence)
            self.ticket = answer.fields.get("ticket", self.ticket)
        elif not held:
            self._take(answer)

    def _return(self, now: float) -> None:
        if (board := self.contact.retry()) is not None:
            board.link.call("SUBSCRIBE", board.keys.wake(self.wake), board.keys.epoch)
            self._register(board)

    def _vouch(self, board: Board, others: list[dict[str, Any]], *, only_news: bool = False) -> None:
        if self._lookout is None:
            from coord.liveness import Lookout

            self._lookout = Lookout(self.id)
        if self._lookout.vouch(board, others, only_news=only_news):
            self._beat_at = 0.0

    def leave(self) -> bool:
        """Gives up the place, or a slot whose answer was never heard. False: to be called again once there is contact."""
        self.state = "over"
        if self.known and self.contact.board is not None:
            try:
                self.contact.board.withdraw(self.id, self.record.instance)
                self.known = False
            except Unavailable:
                self.contact.lose()
        return not self.known

    def finish(self, outcome: str, *, code: int | None = None, signal: int | None = None, leftovers: str = "") -> bool:
        """Gives the slot back, to the next in the same step. A lost server is tried once more. False: as for `leave`."""
        end = time.monotonic() + FINISH_S
        while self.known and (left := end - time.monotonic()) > 0.1:
            try:
                board = self.contact.board or self.contact.retry()
                if board is None:
                    break
                board.link.patience = left
                answer = board.job_finish(
                    self.id, self.record.instance, self.fence, outcome, code=code, signal=signal, leftovers=leftovers
                )
                self.known = False
                if answer.fields.get("alone"):
                    self.contact.forget()
            except Unavailable:
                self.contact.lose()
            except BoardFault as error:
                self.contact.fault(error)
                break
        return not self.known
