"""Two Linux process attributes that Python does not expose: the parent-death signal and the child subreaper.

`_ctypes` is called directly because importing `ctypes` costs 4 ms of the runner's start, `_ctypes` 1 ms.
Where there is no prctl (macOS, a Python without ctypes) every function here answers False and does nothing.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_CHILD_SUBREAPER = 36

_function: Callable[[int, int], int] | None = None
_loaded = False


def load() -> bool:
    """Look prctl up once; True when it can be called. Called before a fork: dlopen is not safe after one."""
    global _function, _loaded  # noqa: PLW0603 - one function per process, looked up at most once
    if not _loaded:
        _loaded = True
        if sys.platform.startswith("linux"):
            _function = _lean() or _through_ctypes()
    return _function is not None


def _lean() -> Callable[[int, int], int] | None:
    try:
        import _ctypes

        address = _ctypes.dlsym(_ctypes.dlopen(None, 0), "prctl")  # type: ignore[arg-type, unused-ignore]
        call = _ctypes.call_function
    except (ImportError, AttributeError, OSError):
        return None
    return lambda option, value: int(call(address, (option, value, 0, 0, 0)))


def _through_ctypes() -> Callable[[int, int], int] | None:
    try:
        from ctypes import CDLL

        prctl = CDLL(None).prctl
    except (ImportError, AttributeError, OSError):
        return None
    return lambda option, value: int(prctl(option, value, 0, 0, 0))


def prctl(option: int, value: int) -> bool:
    """Set one attribute of this process; True when the kernel took it."""
    return load() and _function is not None and _function(option, value) == 0
