"""omp-coord: one board for the coding-agent sessions of a project."""

__version__ = "0.1.0"
