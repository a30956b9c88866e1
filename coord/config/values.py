"""The kinds of values that fields of a configuration have, each with what it allows in words."""

from __future__ import annotations

from typing import Annotated, LiteralString

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from coord.errors import ConfigError
from coord.names import duration

MOST_SLOTS = 999_999
"""Six digits: what the board's counters hold."""


def refusal(allowed: LiteralString, **values: object) -> PydanticCustomError:
    """An error of a validator: completes "found …; allowed is …", or says what is wrong with an object."""
    return PydanticCustomError("allowed", allowed, dict(values))


def _lasts(text: str) -> str:
    try:
        seconds = duration(text)
    except ConfigError:
        seconds = 0.0
    if seconds < 0.001:
        raise refusal('a duration such as "90s", "10m" or "1h30m"')
    return text


def _compiles(pattern: str) -> str:
    import regex

    try:
        regex.compile(pattern)
    except regex.error as error:
        raise refusal("a regular expression, but {why}", why=str(error)) from None
    return pattern


Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,64}$")]
Glob = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(str.lower)]
Pattern = Annotated[str, Field(min_length=1), AfterValidator(_compiles)]
Duration = Annotated[str, AfterValidator(_lasts)]
Text = Annotated[str, Field(min_length=1, max_length=2000)]
Number = Annotated[float, Field(allow_inf_nan=False)]


class Model(BaseModel):
    """Base of all parts of a configuration: strict values, known keys only, camelCase in the file."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, alias_generator=to_camel)
