"""Which server a scope lives on, and the embedded one (design 10).

`choose` (HOT) answers from the scope's `record`; what it says is decided in `decide`, with `probe` looking at
servers and `embedded` starting our own, which `guard` watches.
"""
