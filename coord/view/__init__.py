"""The board as plain data, for those that show it: the bridge as well as the command line, so nothing heavy is imported.

Read in this order: `reading` what the board holds · `whole` the picture of it (that of `status --json`), with `pools`,
`queues` and `cautions` · `table` and `coord.board_text` the picture as text.
"""
