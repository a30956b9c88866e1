-- Pauses the scope: no new agents and no new grants; what runs, runs on; holds stop ageing. Again: the reason is replaced.
--
-- paused
-- newerSchema schema                         the board was made by a newer omp-coord
local META, POLICIES, POLICY_USE, LIMITS, LOADS, LEASES, DEADLINES, JOBS, WAITING, RUNNING, TURNS, SERVED, NEST, ENDED,
  ENDED_AT, EVENTS, SESSIONS, LABELS, SLOTS, SEATS, LINE, HOLDS, PAUSE = unpack(KEYS)
local by, label, reason,
  machine, epoch, fresh, single, channel, user, load, vouch = unpack(ARGV)
-- @include lib/open

for _, member in ipairs(redis.call('ZRANGE', HOLDS, 0, -1)) do
  local at = redis.call('ZSCORE', DEADLINES, 'hold|' .. member)
  if at then redis.call('HSET', PAUSE, 'hold|' .. member, string.format('%d', at - board.now)) end
  redis.call('ZREM', DEADLINES, 'hold|' .. member)
end
redis.call('HSETNX', PAUSE, 'since', board.at)
redis.call('HDEL', PAUSE, 'label', 'reason')
redis.call('HSET', PAUSE, 'by', by)
if label ~= '' then redis.call('HSET', PAUSE, 'label', label) end
if reason ~= '' then redis.call('HSET', PAUSE, 'reason', reason) end
event('paused', 'by', by, 'label', label, 'reason', reason)
local reply = { 'paused' }
-- @include lib/close
