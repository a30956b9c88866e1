-- Lifts a pause: holds go on ageing where they stopped, lines and queues are served at once.
--
-- resumed was                                was: "1": it was paused
-- newerSchema schema                         the board was made by a newer omp-coord
local META, POLICIES, POLICY_USE, LIMITS, LOADS, LEASES, DEADLINES, JOBS, WAITING, RUNNING, TURNS, SERVED, NEST, ENDED,
  ENDED_AT, EVENTS, SESSIONS, LABELS, SLOTS, SEATS, LINE, HOLDS, PAUSE = unpack(KEYS)
local by, label,
  machine, epoch, fresh, single, channel, user, load, vouch = unpack(ARGV)
-- @include lib/open

-- @include lib/touch
local before = board.paused
if before then
  for _, member in ipairs(redis.call('ZRANGE', HOLDS, 0, -1)) do
    local left = redis.call('HGET', PAUSE, 'hold|' .. member)
    if left then redis.call('ZADD', DEADLINES, board.now + left, 'hold|' .. member) end
  end
  redis.call('DEL', PAUSE)
  board.paused = false
  event('resumed', 'by', by, 'label', label)
  for _, name in ipairs(redis.call('HKEYS', LIMITS)) do touch(name) end
end
local reply = { 'resumed', 'was', before and '1' or '' }
-- @include lib/close
