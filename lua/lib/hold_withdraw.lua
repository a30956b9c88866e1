-- Takes back the newest hold of a pool that a lowered cap has no room for; the session keeps its ticket and is told.
-- @include lib/split
local function hold_withdraw(pool)
  local newest, latest
  for _, member in ipairs(redis.call('ZRANGEBYLEX', HOLDS, '[' .. pool .. '|', '(' .. pool .. '|\255')) do
    local at = tonumber(redis.call('ZSCORE', DEADLINES, 'hold|' .. member)) or 0
    if not latest or at >= latest then newest, latest = member, at end
  end
  if not newest then return false end
  local session = split(newest)[2]
  redis.call('ZREM', HOLDS, newest)
  redis.call('ZREM', DEADLINES, 'hold|' .. newest)
  redis.call('PUBLISH', channel .. 'wake:' .. session, 'withdrawn ' .. pool)
  event('hold_withdrawn', 'session', session, 'pool', pool)
  return true
end
