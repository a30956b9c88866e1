"""The exit codes of `omp-coord`, in one place (`docs/commands.md` lists them; a test compares)."""


class Exit:
    """Plain integers, not an IntEnum: `import enum` alone costs the runner 2 ms."""

    OK = 0
    FAILED = 1
    USAGE = 2
    UNAVAILABLE = 69
    NO_SLOT = 75
    TIME_LIMIT = 124
    NOT_EXECUTABLE = 126
    NOT_FOUND = 127
