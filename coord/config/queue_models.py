"""`queues` and `commands`: what may run at once, and which of the agents' commands go there."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from coord.config.values import MOST_SLOTS, Duration, Model, Name, Number, Pattern, Text, refusal


class Lane(Model):
    """A share of a queue."""

    priority: int = Field(
        default=0, ge=-1_000_000, le=1_000_000, description="Lanes with a higher number are served first."
    )
    reserved: int = Field(
        default=0,
        ge=0,
        le=MOST_SLOTS,
        description="Slots kept free for this lane. All lanes together: at most slots.",
    )
    max: int | None = Field(
        default=None,
        ge=1,
        le=MOST_SLOTS,
        description="How many jobs of this lane run at once; at least reserved.",
    )

    @model_validator(mode="after")
    def _reserved_fits(self) -> Self:
        if self.max is not None and self.reserved > self.max:
            raise refusal("reserved is more than max ({max})", max=self.max)
        return self


class QueueLoadCap(Model):
    """Fewer slots while the machine is busy."""

    load: Number = Field(ge=0, description="Applies while the 1-minute load average is above this.")
    slots: int = Field(ge=0, le=MOST_SLOTS, description="The slots that the queue has then.")


class Queue(Model):
    """Jobs that take turns."""

    slots: int = Field(ge=1, le=MOST_SLOTS, description="Jobs that run at once, across all processes of the scope.")
    order: Literal["fifo", "fair-share"] = Field(
        default="fifo", description="fifo: first come, first served. fair-share: owners take turns."
    )
    lanes: dict[Name, Lane] = Field(
        default_factory=dict, description="Shares of the queue by name. Jobs without a lane are in `default`."
    )
    time_limit: Duration | None = Field(
        default=None,
        description='How long a job may run, for example "10m". `--time-limit` may only shorten it.',
    )
    leftovers: Literal["keep", "kill", "wait"] = Field(
        default="keep", description="What becomes of processes that outlive their job's command."
    )
    load_caps: list[QueueLoadCap] = Field(
        default_factory=list, description="Fewer slots under load; the strictest entry that applies wins."
    )

    @model_validator(mode="after")
    def _reserved_fits(self) -> Self:
        reserved = sum(lane.reserved for lane in self.lanes.values())
        if reserved > self.slots:
            raise refusal(
                "the lanes reserve {reserved} slots together, more than slots ({slots})",
                slots=self.slots,
                reserved=reserved,
            )
        return self


class RefuseRule(Model):
    """A command that agents may not run."""

    pattern: Pattern = Field(description="A regular expression, searched in the command.")
    action: Literal["refuse"] = Field(description="Block the command.")
    reason: Text = Field(description="What the agent is told.")


class QueueRule(Model):
    """A command that agents run through a queue."""

    pattern: Pattern = Field(description="A regular expression, searched in the command.")
    action: Literal["queue"] = Field(description="Run the command in a slot of a queue.")
    queue: Name = Field(description="One of `queues`.")
    lane: Name | None = Field(default=None, description="One of that queue's lanes.")


CommandRule = Annotated[RefuseRule | QueueRule, Field(discriminator="action")]
