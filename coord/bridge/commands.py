"""What becomes of an agent's bash command: run as it is, run through a queue, or refused.

Decided from the text and the configuration alone, without the board: the line that queues a command is carried out by
`omp-coord run`, which copes with a server that is away.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from coord.bridge.queued import Queued, is_own_run, line_of, read_line, unqueueable
from coord.bridge.tags import tagged, untagged
from coord.bridge.words import clip
from coord.names import clean

if TYPE_CHECKING:
    import regex

    from coord.bridge.queued import Caller
    from coord.config.settings import Settings

PATIENCE_S = 0.1
"""Seconds that a pattern may be searched for."""


class Rule(NamedTuple):
    """`target`: the reason of a refusal, or a queue."""

    pattern: regex.Pattern[str]
    action: str
    target: str
    lane: str | None


class Decision(NamedTuple):
    """`command` None: run it as it stands. `reason`: it is refused. `queue`: where it is run. `notice`: why it is let
    through although a rule may want something else."""

    command: str | None = None
    reason: str | None = None
    queue: str | None = None
    notice: str | None = None


class Commands:
    """The rules of one configuration, ready to be used."""

    def __init__(self, settings: Settings) -> None:
        self._tag, self._queues = settings.commands.tag, settings.queues
        self._rules: list[Rule] = []
        for pattern, action, target, lane in settings.commands.rules:
            import regex  # 40 ms and some megabytes, which a session without rules need not pay

            self._rules.append(Rule(regex.compile(pattern), action, target, lane))

    def decide(self, text: str, caller: Caller, agent: str) -> Decision:
        """What an agent that types `text` gets to run."""
        bare, queued = self._peel(text)
        rule, notice = self._matching(bare)
        if rule is not None and rule.action == "refuse":
            return Decision(reason=rule.target)
        if rule is not None and not is_own_run(bare):
            queued = Queued(rule.target, rule.lane, bare)
        if queued is not None:
            notice = notice or unqueueable(queued, caller)
        if notice is not None:
            queued = None
        made = bare if queued is None else line_of(queued, caller, agent)
        if self._tag:
            made = tagged(made, agent)
        return Decision(None if made == text else made, None, queued and queued.queue, notice)

    def _peel(self, text: str) -> tuple[str, Queued | None]:
        """The command itself, without what was put around it for the agent that ran it before; and the queue that it was
        in, as long as there is that one."""
        queued = None
        while True:
            text = untagged(text) if self._tag else text
            line = read_line(text)
            if line is None:
                break
            text = line.command
            queued = queued or line
        return text, queued and self._known(queued, text)

    def _known(self, queued: Queued, command: str) -> Queued | None:
        queue = self._queues.get(queued.queue)
        known = queue is not None and (queued.lane in (None, "default") or queued.lane in queue.lanes)
        return Queued(queued.queue, queued.lane, command) if known else None

    def _matching(self, text: str) -> tuple[Rule | None, str | None]:
        """The first rule whose pattern is found; or a notice of the one that could not be searched for in time."""
        for rule in self._rules:
            try:
                if rule.pattern.search(text, timeout=PATIENCE_S):
                    return rule, None
            except TimeoutError:
                shown = clip(clean(rule.pattern.pattern), 80)
                return None, f"a pattern of `commands` took over 100 ms and let a command through: {shown}"
        return None, None
