"""omp-coord: one board for the coding-agent sessions of a project.

The public names are imported when they are first used: `omp-coord run` pays for none of them.
"""

__version__ = "0.1.0"
__all__ = [
    "BoardFault",
    "ConfigError",
    "CoordError",
    "Coordinator",
    "Elsewhere",
    "Refused",
    "Session",
    "Slot",
    "Spawn",
    "Unavailable",
    "WaitTimeout",
]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from coord.coordinator import Coordinator
    from coord.errors import (
        BoardFault,
        ConfigError,
        CoordError,
        Elsewhere,
        Refused,
        Unavailable,
        WaitTimeout,
    )
    from coord.session import Session, Spawn
    from coord.slot import Slot

_PLACES = {
    "Coordinator": "coord.coordinator",
    "Session": "coord.session",
    "Slot": "coord.slot",
    "Spawn": "coord.session",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'coord' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_PLACES.get(name, "coord.errors")), name)
