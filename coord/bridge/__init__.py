"""The bridge: the one process that stands for a session on the board. It speaks JSON-RPC lines with the host on stdin and
stdout, joins, beats, watches its configuration, listens for holds, and words the board's answers. It decides nothing.

Read in this order: `protocol` what is said · `rpc` how · `bridge` who answers · `session` the conversation with the board.
"""
