"""The configuration that applies to a folder: from the cache, or read and validated once per edit."""

from __future__ import annotations

import os
import time

from coord.config import cache
from coord.config.find import find
from coord.config.settings import AgentRules, CommandRules, Queue, Settings
from coord.errors import ConfigError
from coord.names import check_name, clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from coord.config.models import Config
    from coord.home import Home

_READ_AT_MOST = (1 << 20) + 1
_DAY_SECONDS = 86_400
_HINT = "omp-coord: no .omp-coord.json here, so every queue has one slot; `omp-coord init` writes one to fill in."


def load(
    cwd: str, env: Mapping[str, str], home: Home, *, named: str | None = None, scope: str | None = None
) -> Settings:
    """The settings for `cwd`, or those of the file `named`; `scope` replaces the file's.

    ConfigError carries all findings, one per line.
    Without a file `hint` is set at most once a day per scope, and giving it counts as saying it.
    """
    if scope is not None:
        check_name("scope", scope)
    path, warnings = find(cwd, env, named)
    if path is None:
        # Each module costs the runner a quarter of a millisecond, so those for one case wait for it.
        from coord.config.scope import scope_of

        settings = Settings(None, scope or scope_of(cwd))
        settings.hint = _hint(home, env, settings.scope)
    else:
        settings = _from_file(path, env, home)
        settings.scope = scope or settings.scope
    settings.warnings = warnings
    return settings


def _from_file(path: str, env: Mapping[str, str], home: Home) -> Settings:
    data = cache.read(home, path)
    if data is None:
        data = _validated(path, home)
    settings = Settings(path, data["scope"])
    settings.policy, settings.policy_json = data["policy"], data["policyJson"]
    settings.lease_ms = data["leaseMs"]
    settings.queues = {fields[0]: Queue(*fields) for fields in data["queues"]}
    settings.agents = AgentRules(*data["agents"])
    settings.commands = CommandRules(*data["commands"])
    if data["url"] is not None:
        from coord.config.redis_url import expand, stays_here

        settings.redis_url = url = expand(data["url"], env, path)
        # Looked up each time: trust may be given after the file was remembered, and the variables may change.
        settings.trusted = stays_here(url) or _is_trusted(home, path, data["sha256"])
    return settings


def _is_trusted(home: Home, path: str, content_hash: str) -> bool:
    from coord.config.trust import is_trusted

    return is_trusted(home, path, content_hash)


def _validated(path: str, home: Home) -> dict[str, Any]:
    from coord.config.policy import flatten
    from coord.config.validate import validate

    status, content = read_content(path)
    data = flatten(validate(path, content), path, content)
    cache.write(home, path, status, content, data)
    return data


def read_config(path: str) -> tuple[Config, bytes]:
    """The whole validated configuration of a file, and its bytes; ConfigError with all findings."""
    from coord.config.validate import validate

    content = read_content(path)[1]
    return validate(path, content), content


def read_content(path: str) -> tuple[os.stat_result, bytes]:
    """The file's status, taken before its content (at most 1 MiB and a byte); ConfigError if unreadable."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            status = os.fstat(descriptor)
            content = b""
            while len(content) < _READ_AT_MOST:
                part = os.read(descriptor, _READ_AT_MOST - len(content))
                if not part:
                    break
                content += part
        finally:
            os.close(descriptor)
    except OSError as error:
        raise ConfigError(f"{clean(path)} cannot be read: {error.strerror}. Make it readable.") from None
    return status, content


def _hint(home: Home, env: Mapping[str, str], scope: str) -> str | None:
    """The hint at `init`, when it is due and can be remembered: better never than with every command."""
    if env.get("CI"):
        return None
    try:
        mark = os.path.join(home.cache(), f"hint-{scope}")
        try:
            if abs(time.time() - os.stat(mark).st_mtime) < _DAY_SECONDS:
                return None
        except FileNotFoundError:
            pass
        os.close(os.open(mark, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
        os.utime(mark)
    except OSError:
        return None
    return _HINT
