"""The speed table: every figure that is promised, measured beside its peers in the same run (docs/benchmarks.md)."""
