-- What one call knows of the board: `meta` as read and the fields of it to write, the queues to serve again, the suspects
-- to name, and whether anything changed.
local board = { meta = {}, write = {}, limits = {}, touched = {}, pools = {}, suspects = {}, changed = false, settling = false,
  now = 0, at = '', micros = 0, lease = 10000, load = nil, set_back = 0, gap = 0, crowded = false, paused = false }
