"""The fields of `.omp-coord.json`, what each may hold and what it means; the JSON Schema is made of these."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from coord.config.queue_models import CommandRule, Queue
from coord.config.values import MOST_SLOTS, Glob, Model, Name, Number, Text, refusal


class Redis(Model):
    """The server."""

    url: Text | None = Field(
        default=None,
        description="redis://, rediss://, unix://, redis+sentinel:// or redis+cluster://. ${VAR} is taken "
        "from the environment. One that leaves this machine is used only after `omp-coord config trust`.",
    )


class PoolLoadCap(Model):
    """A lower cap while the machine is busy."""

    load: Number = Field(ge=0, description="Applies while the 1-minute load average is above this.")
    cap: int = Field(ge=0, le=MOST_SLOTS, description="The cap of the pool then.")


class Pool(Model):
    """Agents that share slots."""

    cap: int = Field(ge=0, le=MOST_SLOTS, description="Slots of the pool, over all sessions of the scope.")
    types: list[Glob] = Field(
        default_factory=list,
        description="Agent types that use this pool; `*` globs. Several pools match: the first in the file.",
    )
    load_caps: list[PoolLoadCap] = Field(
        default_factory=list, description="Lower caps under load; the strictest entry that applies wins."
    )


class Nested(Model):
    """What subagents may start themselves."""

    types: list[Glob] | None = Field(
        default=None, description="Types (globs) a subagent may start. Default: the exempt types."
    )
    max_running_per_parent: int = Field(
        default=1, ge=0, le=MOST_SLOTS, description="How many of those one subagent may have at once."
    )


class Agents(Model):
    """Subagents of all sessions."""

    pools: dict[Name, Pool] = Field(
        default_factory=dict, description="Pools by name. None at all: agents are counted, not capped."
    )
    default_pool: Name | None = Field(
        default=None, description="Pool of every type that no pool names. Default: the first pool."
    )
    exempt: list[Glob] = Field(
        default_factory=lambda: ["reviewer"], description="Types (globs) that take no slot of a pool."
    )
    nested: Nested = Field(default_factory=Nested, description="What subagents may start themselves.")
    hold_minutes: Number = Field(
        default=5, gt=0, le=525_600, description="How long a freed slot is held for the first in line."
    )
    start_timeout_seconds: Number = Field(
        default=120, ge=1, le=3600, description="When an approved agent that never starts loses its slot."
    )
    queue_spawns: bool = Field(
        default=True,
        description="While a session is alone, spawns over the cap wait in the host's own queue.",
    )

    @property
    def first_choice(self) -> str | None:
        """The pool of every type that no pool names; None without pools."""
        return self.default_pool or next(iter(self.pools), None)

    @property
    def nested_types(self) -> list[str]:
        """Globs of the types that a subagent may start."""
        return self.exempt if self.nested.types is None else self.nested.types


class Claims(Model):
    """Claims of branches, worktrees, pull requests and files."""

    enforce: bool = Field(
        default=True, description="Refuse agents' git commands that touch what another session claimed."
    )


class Messages(Model):
    """Messages between sessions."""

    per_minute: int = Field(default=10, ge=1, le=100_000, description="Messages one session may send per minute.")


class Ports(Model):
    """Ports shared out to sessions."""

    from_: int = Field(alias="from", ge=1, le=65_535, description="The first port.")
    to: int = Field(ge=1, le=65_535, description="The last port.")
    per_session: int = Field(ge=1, le=65_535, description="Ports of one session.")

    @model_validator(mode="after")
    def _one_block_fits(self) -> Self:
        if self.to - self.from_ + 1 < self.per_session:
            raise refusal("from … to holds fewer ports than perSession ({size})", size=self.per_session)
        return self


class Resources(Model):
    """What each session gets for itself."""

    ports: Ports | None = Field(default=None, description="A block of ports for each session.")
    scratch: bool = Field(default=False, description="A private folder per session and per agent.")


class History(Model):
    """The history in SQLite."""

    retention_days: Number = Field(default=30, gt=0, le=36_500, description="How long events are kept.")


class Config(Model):
    """A configuration of omp-coord."""

    schema_: str | None = Field(default=None, alias="$schema", description="For editors; not read.")
    scope: Name = Field(
        description="The board's name. Sessions with one scope share one board, also from several worktrees."
    )
    redis: Redis = Field(default_factory=Redis, description="The server.")
    agents: Agents = Field(default_factory=Agents, description="Subagents of all sessions.")
    queues: dict[Name, Queue] = Field(default_factory=dict, description="Queues of jobs, by name.")
    commands: list[CommandRule] = Field(
        default_factory=list, description="Rules for agents' bash commands; the first that matches wins."
    )
    tag_agent_commands: bool = Field(
        default=False, description="Put the agent's id in front of each of its bash commands."
    )
    claims: Claims = Field(default_factory=Claims, description="Claims of branches, files and the like.")
    messages: Messages = Field(default_factory=Messages, description="Messages between sessions.")
    resources: Resources = Field(default_factory=Resources, description="What each session gets for itself.")
    history: History = Field(default_factory=History, description="The history in SQLite.")
    lease_seconds: Number = Field(
        default=10,
        ge=2,
        le=600,
        description="How long a silent session or job of another machine is believed alive.",
    )
