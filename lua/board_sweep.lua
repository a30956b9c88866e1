-- Takes in what the caller saw of its machine's processes, drops what has lapsed and serves every queue.
--
-- swept changed                              changed: "1" when that changed the board
-- newerSchema schema                         the board was made by a newer omp-coord
local META, POLICIES, POLICY_USE, LIMITS, LOADS, LEASES, DEADLINES, JOBS, WAITING, RUNNING, TURNS, SERVED, NEST, ENDED,
  ENDED_AT, EVENTS, SESSIONS, LABELS, SLOTS, SEATS, LINE, HOLDS, PAUSE = unpack(KEYS)
local machine, epoch, fresh, single, channel, user, load, vouch = unpack(ARGV)
-- @include lib/open

-- @include lib/forget
-- @include lib/promote
-- @include lib/touch
forget()
for _, name in ipairs(redis.call('HKEYS', LIMITS)) do touch(name) end
promote()
local reply = { 'swept', 'changed', board.changed and '1' or '' }
-- @include lib/close
