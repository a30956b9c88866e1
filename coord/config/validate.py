"""A file's content made a `Config`, or all that is wrong with it: where, what was found, what is allowed."""

from __future__ import annotations

import json
from types import UnionType
from typing import Any, NamedTuple, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from coord.config.jsonc import Document, JsonError, Path, decode, parse
from coord.config.models import Config
from coord.config.queue_models import CommandRule, QueueRule, RefuseRule
from coord.config.redis_url import variables
from coord.config.settings import DEFAULT_LANE
from coord.errors import ConfigError
from coord.names import clean, nearest
from coord.wire.url import Address

SIZE_LIMIT = 1 << 20
SHOWN_FINDINGS = 50


class Finding(NamedTuple):
    """One thing that is wrong: line and column from 1, path of the field ("" for the whole), and what."""

    line: int
    column: int
    path: str
    text: str


class InvalidConfig(ConfigError):
    """A file that cannot be used; its text has one line per finding, `findings` has them all."""

    def __init__(self, source: str, findings: list[Finding]) -> None:
        self.findings = sorted(findings)
        lines = [_line(source, finding) for finding in self.findings[:SHOWN_FINDINGS]]
        if len(findings) > SHOWN_FINDINGS:
            lines.append(f"{clean(source)}: and {len(findings) - SHOWN_FINDINGS} more.")
        super().__init__("\n".join(lines))


def _line(source: str, finding: Finding) -> str:
    path = f"{finding.path}: " if finding.path else ""
    return clean(f"{source}:{finding.line}:{finding.column}: {path}{finding.text}")


def validate(source: str, content: bytes) -> Config:
    """The configuration that `content` of the file `source` says; InvalidConfig with every finding."""
    if len(content) > SIZE_LIMIT:
        raise InvalidConfig(source, [Finding(1, 1, "", "larger than 1 MiB: a configuration never is.")])
    try:
        document = parse(decode(content))
    except JsonError as error:
        raise InvalidConfig(source, [Finding(error.line, error.column, "", str(error))]) from None
    findings = [_given_twice(document, path, at) for path, at in document.duplicates]
    findings += _cross_checks(document) + _url_check(document)
    config = None
    try:
        config = Config.model_validate(document.value)
    except ValidationError as error:
        findings += [_finding(document, details) for details in error.errors(include_url=False)]
    if findings or config is None:
        raise InvalidConfig(source, findings)
    return config


def _given_twice(document: Document, path: Path, at: int) -> Finding:
    return Finding(*document.where(at), dotted(path), "this key is given twice: keep one of them.")


def dotted(path: Path) -> str:
    """`("queues", "build", "slots")` as `queues.build.slots`, list items as `commands[0]`; an endless key is cut."""
    text = ""
    for part in path:
        shown = part if isinstance(part, int) or len(part) <= 64 else part[:63] + "…"
        text += f"[{part}]" if isinstance(part, int) else f".{shown}" if text else str(shown)
    return text


# --- what pydantic found, in our words


def _finding(document: Document, details: ErrorDetails) -> Finding:
    kind, location = details["type"], details["loc"]
    path = _field_path(location)
    at_key = location[-1:] == ("[key]",)
    unknown = kind == "extra_forbidden"
    if unknown:
        text = _unknown_key(str(path[-1]), known_keys(location[:-1]))
    elif kind == "missing":
        text = "required, but missing: add it."
    elif kind == "allowed" and isinstance(details["input"], dict):
        text = f"{details['msg']}."
    else:
        text = f"found {_found(path, details['input'])}; allowed is {_allowed(details, at_key)}."
    return Finding(*document.place(path, key=unknown or at_key), dotted(path), text)


def _field_path(location: Path) -> Path:
    """Pydantic's location without its own marks: `[key]`, and the action that chose the kind of a rule."""
    if location[:1] == ("commands",) and len(location) > 2:
        location = (*location[:2], *location[3:])
    return tuple(part for part in location if part != "[key]")


def _unknown_key(key: str, known: list[str]) -> str:
    near = nearest(key, known)
    guess = f'Did you mean "{near}"? ' if near else ""
    return f"unknown key. {guess}Allowed here: {', '.join(known)}."


def known_keys(location: Path) -> list[str]:
    """The keys that the object at a pydantic location may have, in their documented order."""
    kind: Any = Config
    for part in location:
        kind = _inside(kind, part)
    return [field.alias or name for name, field in kind.model_fields.items()]


def _inside(kind: Any, part: str | int) -> Any:
    """The type of what stands at `part` in a value of type `kind`, without its `| None`."""
    if part in ("refuse", "queue") and kind is CommandRule:
        return RefuseRule if part == "refuse" else QueueRule
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        inner = next(f.annotation for name, f in kind.model_fields.items() if part in (f.alias, name))
    else:
        inner = get_args(kind)[-1]  # what a list or a map holds
    members = [item for item in get_args(inner) if item is not type(None)]
    return members[0] if get_origin(inner) is UnionType and len(members) == 1 else inner


def _found(path: Path, value: Any) -> str:
    if path[:1] == ("redis",):
        return "this text" if isinstance(value, str) else _kind(value)  # it may hold a password
    if isinstance(value, dict | list):
        return _kind(value)
    text = json.dumps(value, ensure_ascii=False)
    return clean(text if len(text) <= 60 else text[:59] + "…")


def _kind(value: Any) -> str:
    return {dict: "an object", list: "a list", bool: "true or false", type(None): "null"}.get(
        type(value), "a number" if isinstance(value, int | float) else "a text"
    )


_WORDS = {
    "int_type": "a whole number",
    "float_type": "a number",
    "finite_number": "a number",
    "bool_type": "true or false",
    "string_type": "a text in double quotes",
    "list_type": "a list [ … ]",
    "dict_type": "an object {{ … }}",
    "model_type": "an object {{ … }}",
    "model_attributes_type": "an object {{ … }}",
    "union_tag_not_found": 'an object with "action": "refuse" or "queue"',
    "union_tag_invalid": 'an object with "action": "refuse" or "queue"',
    "string_pattern_mismatch": '1 to 64 ASCII letters, digits, ".", "_" or "-"',
    "string_too_short": "a text that is not empty",
    "string_too_long": "a text of at most {max_length} characters",
    "greater_than": "a number above {gt:g}",
    "greater_than_equal": "a number of at least {ge:g}",
    "less_than_equal": "a number of at most {le:g}",
    "literal_error": "{expected}",
}


def _allowed(details: ErrorDetails, at_key: bool) -> str:
    if details["type"] == "allowed":
        return details["msg"]
    words = _WORDS.get(details["type"])
    if words is None:
        return details["msg"]
    text = words.format(**details.get("ctx", {})).replace("'", '"')
    return f"a name of {text}" if at_key else text


# --- what needs more than one place of the file; on the raw value, so that it is found beside other errors


_Check = tuple[Path, str, str, list[str]]


def _cross_checks(document: Document) -> list[Finding]:
    value = document.value
    pools = _object(_object(value, "agents"), "pools")
    checks: list[_Check] = []
    default = _object(value, "agents").get("defaultPool")
    if isinstance(default, str):
        checks.append((("agents", "defaultPool"), "pool", default, list(pools)))
    rules = value.get("commands") if isinstance(value, dict) else None
    for index, rule in enumerate(rules if isinstance(rules, list) else []):
        checks += _rule_checks(("commands", index), rule, _object(value, "queues"))
    return [
        Finding(*document.place(path), dotted(path), _not_there(kind, name, known))
        for path, kind, name, known in checks
        if name not in known
    ]


def _rule_checks(path: Path, rule: Any, queues: dict[str, Any]) -> list[_Check]:
    if not isinstance(rule, dict) or rule.get("action") != "queue" or not isinstance(rule.get("queue"), str):
        return []
    name, lane = rule["queue"], rule.get("lane")
    checks: list[_Check] = [((*path, "queue"), "queue", name, list(queues))]
    if isinstance(lane, str) and name in queues:
        lanes = list(dict.fromkeys([*_object(queues[name], "lanes"), DEFAULT_LANE]))
        checks.append(((*path, "lane"), "lane", lane, lanes))
    return checks


def _url_check(document: Document) -> list[Finding]:
    """Whether the URL can be understood, as far as that shows without the environment."""
    url = _object(document.value, "redis").get("url")
    try:
        if isinstance(url, str) and url and not variables(url):
            Address(url)
    except ConfigError as error:
        return [Finding(*document.place(("redis", "url")), "redis.url", str(error))]
    return []


def _object(value: Any, key: str) -> dict[str, Any]:
    inner = value.get(key) if isinstance(value, dict) else value
    return inner if isinstance(inner, dict) else {}


def _not_there(kind: str, name: str, known: list[str]) -> str:
    near = nearest(name, known)
    guess = f' Did you mean "{near}"?' if near else ""
    return f'no such {kind}: "{clean(name[:60])}".{guess} Known: {", ".join(known) or "none"}.'
