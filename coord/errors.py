"""What can go wrong, as exceptions; an expected refusal (no slot yet, not yours) is a value, never one of these.

CoordError
├── ConfigError     a configuration, name, duration or URL that cannot be used; the text says where and what is allowed
│   └── Elsewhere   the scope already lives on another server than the one asked for
├── Unavailable     the board cannot be reached (no server to be had, refused, wrong password, too old)
│   └── NewerBoard  a newer omp-coord made the board
├── WaitTimeout     no slot within the time asked for
├── Refused         the board said no for good (a knot of nested waits, a cancelled wait)
└── BoardFault      a script failed: a fault of ours or of the data on the board

Every message is one line that says what to do, without control characters.
"""


class CoordError(Exception):
    """Base of all errors raised by this package."""


class ConfigError(CoordError):
    """A configuration, name or URL is unusable. `str(error)` may hold several lines, one per finding."""


class Elsewhere(ConfigError):
    """The scope lives on another server; `url` is where."""

    def __init__(self, text: str, url: str) -> None:
        super().__init__(text)
        self.url = url


class Unavailable(CoordError):
    """The board cannot be reached."""


class NewerBoard(Unavailable):
    """The board was made by a newer omp-coord, which this one must not touch."""


class WaitTimeout(CoordError):
    """No slot within the time asked for."""


class Refused(CoordError):
    """The board refuses the wait for good; the text says why and by whom."""


class BoardFault(CoordError):
    """A script failed on the board."""
