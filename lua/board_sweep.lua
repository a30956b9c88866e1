-- Takes in what the caller saw of its machine's processes, drops what has lapsed and serves every queue.
--
-- swept changed                              changed: "1" when that changed the board
-- newerSchema schema                         the board was made by a newer omp-coord
local META, POLICIES, POLICY_USE, LIMITS, LOADS, LEASES, DEADLINES, JOBS, WAITING, RUNNING, TURNS, SERVED,
  NEST, ENDED, ENDED_AT, EVENTS = unpack(KEYS)
local machine, epoch, fresh, single, channel, user, load, vouch = unpack(ARGV)
-- @include lib/open

-- @include lib/forget
-- @include lib/promote
forget()
for _, name in ipairs(redis.call('HKEYS', LIMITS)) do board.touched[string.sub(name, 3)] = true end
promote()
local reply = { 'swept', 'changed', board.changed and '1' or '' }
-- @include lib/close
