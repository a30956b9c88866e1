"""A session's conversation with the board: joins, asks, beats, comes back after a loss, leaves.

    new → joined ⇄ apart (no board: nothing is coordinated until there is one again) → over (left, or taken over)

Nothing here waits by itself, but for the calls that a decision hangs on. Whoever drives the session sleeps for as long
as `pump` says, or until the connection has news, and calls `pump` again. Not for several threads at once.
"""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING, Any

from coord import __version__
from coord.bridge.agents import Mirror
from coord.bridge.picture import Picture
from coord.bridge.rhythm import Rhythm
from coord.errors import BoardFault, ConfigError, Unavailable
from coord.liveness import Lookout
from coord.machine import start_of

if TYPE_CHECKING:
    from coord.answers import Answer
    from coord.board import Board
    from coord.contact import Contact

RETRY_S = 0.5
"""Seconds that one look for a lost server may take; whoever asks meanwhile waits for so long."""


class Session:
    """`state`: new, joined, apart, over. `joined`: the others and their files, as they were at the last join."""

    def __init__(
        self, contact: Contact, *, cwd: str, host_session: str = "", pid: int = 0, agents: Mirror | None = None
    ):
        self.id, self.instance = os.urandom(8).hex(), os.urandom(8).hex()
        self.contact = contact
        self.cwd, self.pid, self.host_session = cwd, pid or os.getpid(), host_session or self.id
        self.agents = Mirror() if agents is None else agents
        self.picture = Picture()
        self.state = "new"
        self.label = ""
        self.joined: dict[str, Any] = {}
        self.policy: tuple[str, str] = ("", "")
        self.epoch = ""
        self._process = {"pid": self.pid, "start": start_of(self.pid) or "", "instance": self.instance}
        self._bridge = {"pid": os.getpid(), "start": start_of(os.getpid()) or ""}
        self._lookout = Lookout(self.id)
        self._rhythm = Rhythm(lambda: contact.settings.lease_ms)

    # -- coming and going

    def open(self) -> None:
        """Joins for the first time. Raises `Unavailable`, `ConfigError`, `BoardFault`."""
        try:
            self._join(self.contact.board or self.contact.open())
        except Unavailable:
            if self.contact.board is None:
                raise
            self._join(self.contact.again())  # a server that was just started is still loading

    def wait_for_board(self) -> None:
        """After an `open` that failed: `pump` looks for the board and joins when it is there."""
        self.state = "apart"
        self.contact.lose()

    def leave(self, reason: str) -> None:
        """Leaves the board, if there is one; afterwards nothing is asked any more."""
        known, self.state = self.state == "joined", "over"
        board = self.contact.board
        try:
            if known and board is not None:
                answer = board.session_leave(self.id, self.instance, reason)
                if answer.fields.get("alone"):
                    self.contact.forget()
        except (Unavailable, BoardFault):
            self.contact.lose()  # its process will be seen to be gone
        self.contact.close()

    def _join(self, board: Board) -> None:
        answer = self._say_join(board)
        others = json.loads(answer.fields["others"])
        if self._lookout.vouch(board, others, only_news=True):
            answer = self._say_join(board)  # the dead are off the board now: whether we are alone is true
        self.joined = {
            "others": json.loads(answer.fields["others"]),
            "files": json.loads(answer.fields["files"]),
        }
        self.state = "joined"
        self._heard(board, board.enter(self._channels(board), "session_beat", **self._beat_words()))

    def _say_join(self, board: Board) -> Answer:
        settings = self.contact.settings
        record = {"cwd": self.cwd, "process": self._process, "bridge": self._bridge, "version": __version__}
        if self.picture.tickets:
            record["line"] = self.picture.tickets  # a board that was lost forgot who waited; this one may know better
        answer = board.enter(
            self._channels(board), "session_join", session=self.id, host_session=self.host_session, label=self.label,
            policy=settings.policy, policy_json=settings.policy_json, agents=self.agents.text(), record=json.dumps(record),
        )  # fmt: skip
        self.contact.knows(answer)
        self.epoch = answer.epoch
        self.id, self.label = answer.fields["session"], answer.fields["label"]
        return answer

    def _channels(self, board: Board) -> tuple[str, str]:
        return board.keys.wake(self.id), board.keys.epoch

    # -- asking

    def ask(self, verb: str, **values: Any) -> Answer | None:
        """A verb of the board for this session; None: the board is away. A lost answer is asked for again, which every
        verb here bears."""
        for _ in range(3):
            board = self._at_hand()
            if board is None:
                return None
            try:
                if board.waits:
                    # The beat's answer is dropped by this call. Not at once again: in a row of calls each would drop one.
                    self._rhythm.later()
                answer = board.call(verb, session=self.id, **values)
                if answer.verdict == "unknown":
                    self._join(board)
                    continue
                self._heard(board, answer)
            except Unavailable:
                self._lose()
                continue
            except BoardFault as error:
                self._lose(error)
                return None
            self._rhythm.soon()
            if verb == "agent_ended":
                self._rhythm.run_ended()
            return answer
        return None

    def sync(self, agents: str) -> list[dict[str, Any]]:
        """Holds the board against what runs; which runs began by that. (Not repeated: two lists in a row mean more than
        one.)"""
        board = self._at_hand()
        try:
            if board is not None:
                answer = board.agents_sync(self.id, agents)
                self._heard(board, answer)
                return list(json.loads(answer.fields.get("started", "[]")))
        except Unavailable:
            self._lose()
        except BoardFault as error:
            self._lose(error)
        return []

    def look(self) -> None:
        """Beats at once and waits for the picture that this brings."""
        board = self._at_hand()
        try:
            if board is not None:
                self._heard(board, board.call("session_beat", **self._beat_words()))
                self._rhythm.beaten()
        except Unavailable:
            self._lose()
        except BoardFault as error:
            self._lose(error)

    def _at_hand(self) -> Board | None:
        if self.state == "apart":
            self._return()
        return self.contact.board if self.state == "joined" else None

    def beat_now(self) -> None:
        """The next `pump` beats."""
        self._rhythm.at_once()

    # -- being driven

    def pump(self) -> float:
        """Takes what is here, does what is due, and says in how many seconds to call again."""
        if self.state == "over":
            return 60.0
        board = self._at_hand()
        try:
            if board is not None:
                self._take(board)
                self._do_due(board, time.monotonic())
        except Unavailable:
            self._lose()
        except BoardFault as error:
            self._lose(error)
        return self._sleep(time.monotonic())

    def _take(self, board: Board) -> None:
        answer = board.poll()
        if answer is not None:
            self._heard(board, answer)
        self._hear(board)

    def _do_due(self, board: Board, now: float) -> None:
        if self.state != "joined":
            return
        if board.waits:
            if self._rhythm.unanswered(now):
                raise Unavailable("the server does not answer")
            return
        if (
            self.picture.line
            and self._rhythm.looks(now)
            and self._lookout.vouch(board, self.picture.watch, only_news=True)
        ):
            self.beat_now()
        if self._rhythm.beats(now):
            board.weigh()
            board.post("session_beat", **self._beat_words())

    def _beat_words(self) -> dict[str, object]:
        policy, self.policy = self.policy, ("", "")
        return {
            "session": self.id, "instance": self.instance, "agents": self.agents.hash, "policy": policy[0],
            "policy_json": policy[1],
        }  # fmt: skip

    def _sleep(self, now: float) -> float:
        if self.state == "apart":
            return self.contact.retry_in
        board = self.contact.board
        rest = self._rhythm.rest(now, posted=bool(board and board.waits), in_line=bool(self.picture.line))
        orphans = self._lookout.orphans.tick(now)
        return max(0.0, min(rest, 60.0 if orphans is None else orphans))

    # -- hearing

    def _heard(self, board: Board, answer: Answer) -> None:
        self.contact.knows(answer)
        self.picture.any(answer)
        if answer.suspects and self._lookout.vouch(board, answer.suspects):
            self.beat_now()
        if answer.verdict == "alive":
            self.label = answer.fields["label"]
            self.picture.beat(answer)
            if answer.fields["sync"]:
                self.sync(self.agents.text())
        elif answer.verdict == "notYours":
            self.state = "over"
            self.contact.close()
        elif answer.verdict in ("unknown", "ended"):
            self._join(board)
        self._hear(board)

    def _hear(self, board: Board) -> None:
        pushes, board.link.pushes = board.link.pushes, []
        for push in pushes:
            if push[0] != "message":
                continue
            channel, text = str(push[1]), str(push[2])
            if channel == board.keys.wake(self.id):
                self.picture.told(text)
                self._rhythm.soon()
            elif channel == board.keys.epoch and text != self.epoch:
                self._join(board)

    # -- loss and return

    def _lose(self, error: BoardFault | None = None) -> None:
        if error is None:
            self.contact.lose()
        else:
            self.contact.fault(error)
        if self.state == "joined":
            self.state = "apart"

    def _return(self) -> None:
        """Comes back with all that really runs, when a look for the board is due and finds it."""
        try:
            board = self.contact.retry(RETRY_S)
            if board is not None:
                self._join(board)
        except ConfigError:
            self.contact.lose()
        except Unavailable:
            self._lose()
        except BoardFault as error:
            self._lose(error)
