"""What a session tells its host unasked: joining, holds, losses, its footer and how many spawns may wait; each once."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from coord.bridge import words
from coord.names import clean

if TYPE_CHECKING:
    from coord.bridge.rpc import Output
    from coord.bridge.session import Session

HELD_TEXT = (
    "omp-coord: {held}. The agent that was refused can be started now; a hold that is not used goes to the next session "
    "in line. If it is no longer needed, give it back with /coord leave."
)


class Told:
    """What the host of one session has been told. `shown`: ids of deliveries that its conversation has already."""

    def __init__(self, out: Output, shown: set[str]) -> None:
        self._out, self._shown = out, shown
        self._footer = ""
        self._allowance: tuple[int | None, str] | None = None
        self._before = frozenset(shown)
        self._holds: set[str] = set()
        self._outage = False
        self._unsized = ""
        self._waiting: dict[str, dict[str, Any]] = {}

    def notify(self, level: str, text: str) -> None:
        self._out.notify("notify", {"level": level, "text": clean(text)})

    # -- deliveries

    def deliver(self, id: str, text: str) -> None:
        """Words for the main conversation, which starts a turn; kept until it is acknowledged."""
        if id in self._shown:
            return
        self._waiting[id] = {"id": id, "to": "main", "from": "omp-coord", "text": text, "startTurn": True}
        self._out.notify("deliver", self._waiting[id])

    def acknowledged(self, ids: list[str]) -> None:
        self._shown.update(ids)
        for id in ids:
            self._waiting.pop(id, None)

    def again(self, before: Told) -> None:
        """Goes on for the same host session: what was told is not told again, but for what nobody has acknowledged."""
        self._holds |= before._holds
        self._shown |= before._shown
        for id, delivery in before._waiting.items():
            if id not in self._shown:
                self._waiting[id] = delivery
                self._out.notify("deliver", delivery)

    # -- what changed

    def news(self, session: Session, *, quiet: bool = False) -> None:
        """Tells what is new. `quiet`: a spawn is being asked for again just now, which may use up a hold by itself."""
        if session.state == "apart":
            self._change_footer(words.OFFLINE)
        else:
            self._change_footer(words.footer(session.label, session.picture))
            self._outage_over(session)
            if not quiet:
                self._tell_holds(session)
        for text in session.contact.told():
            self.notify("warning", text)
        self.tell_allowance(session)

    def _tell_holds(self, session: Session) -> None:
        picture = session.picture
        while picture.withdrawn:
            pool = picture.withdrawn.pop(0)
            self._forget(f"hold-{session.id}-{pool}-")  # held again, for the same place in line, it is news
            text = "that was held was taken back, its cap was lowered; the place in line is kept"
            self.notify("info", f"the slot of the pool {clean(pool)} {text}")
        for pool, until in picture.holds.items():
            # Known by its ticket: the time of a hold moves when the server was stopped or all slept, which is no news.
            hold = f"hold-{session.id}-{pool}-{picture.tickets.get(pool, '')}-"
            if until is None:
                self._forget(hold)  # paused; after that the new time is news
            elif pool in picture.tickets and hold not in self._holds:
                self._holds.add(hold)
                if not any(id.startswith(hold) for id in self._before):
                    text = words.held(pool, picture.local_s(until), time.time())
                    self.notify("info", text)
                    self.deliver(f"{hold}{until}", HELD_TEXT.format(held=text))

    def _forget(self, holds: str) -> None:
        self._holds = {hold for hold in self._holds if not hold.startswith(holds)}
        self._before = frozenset(id for id in self._before if not id.startswith(holds))

    def outage(self) -> None:
        """The board is away and somebody feels it: said once until it is back."""
        if not self._outage:
            self._outage = True
            self.notify("error", "the board cannot be reached: agents are neither counted nor capped until it is back")

    def _outage_over(self, session: Session) -> None:
        if self._outage:
            self._outage = False
            self.notify("info", f"the board is back; this is session {session.label}, and what runs counts again")

    # -- footer and allowance

    def footer(self, session: Session) -> str:
        """The footer for an answer, which needs no notification then."""
        self._footer = words.footer(session.label, session.picture)
        return self._footer

    def _change_footer(self, text: str) -> None:
        if text != self._footer:
            self._footer = text
            self._out.notify("footer", {"text": text})

    def no_footer(self) -> None:
        """There is nothing to show: the session is not on a board, and waits for none."""
        self._change_footer("")

    def offline(self) -> None:
        self._change_footer(words.OFFLINE)

    def allowance(self, session: Session) -> tuple[int | None, str]:
        """The value, and the line that says what it means."""
        wanted = session.contact.settings.agents.queue_spawns
        away = session.state != "joined"
        value = session.picture.allowance if wanted and not away and not self._unsized else None
        return value, words.queue_note(wanted, value, session.picture.why, away=away, unsized=self._unsized)

    def cannot_size(self, reason: str, *, wanted: bool) -> None:
        """The host cannot have spawns wait: said once, if that is wanted; those over the cap are refused from now on."""
        before, self._unsized = self._unsized, words.clip(clean(reason), 200) or "no reason given"
        if wanted and not before:
            text = f"omp's own spawn queue cannot be sized, spawns over the cap are refused: {self._unsized}"
            self.notify("warning", text)

    def answered(self, session: Session) -> int | None:
        """The value for an answer; a number that follows a number is not told again. (Why there is none, is.)"""
        value, note = self.allowance(session)
        if value is not None and self._allowance is not None and self._allowance[0] is not None:
            self._allowance = value, note
        return value

    def tell_allowance(self, session: Session) -> None:
        now = self.allowance(session)
        if now != self._allowance:
            self._allowance = now
            self._out.notify("allowance", {"value": now[0], "note": now[1]})

    def opened(self, session: Session) -> dict[str, Any]:
        """`spawnQueue` of the answer to `session.open`."""
        value, note = self._allowance = self.allowance(session)
        return {"drive": value is not None, "allowance": value, "note": note}


def joining(session: Session, warnings: list[str], note: str) -> list[dict[str, str]]:
    """The notices of a join."""
    settings = session.contact.settings
    others = [f"{clean(one['label'])} in {clean(one['cwd'])}" for one in session.joined["others"]]
    there = ", ".join(others[:8]) + (f" and {len(others) - 8} more" if len(others) > 8 else "")
    paused = session.picture.paused
    parts = [f"session {session.label} of {settings.scope}", f"others: {there}" if others else "no other session"]
    if paused:
        parts.append(f"paused{words.pause_words(paused)}")
    notices = [{"level": "info", "text": "; ".join([*parts, note])}]
    files = sorted({clean(path) or "?" for path in session.joined["files"]})
    if files:
        mine = clean(settings.path or "")
        there = ", ".join("an earlier version of it" if path == mine else path for path in files)
        text = f"configurations differ, the lowest limits count: {mine} here, {there} elsewhere"
        notices.append({"level": "warning", "text": text})
    notices += [{"level": "warning", "text": clean(text)} for text in warnings]
    notices += [{"level": "info", "text": clean(text)} for text in session.contact.told()]
    return notices
