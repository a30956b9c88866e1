-- Takes back the hold of a pool that a lowered cap has no room for, of the latest ticket, which is the newest: holds are
-- given in ticket order. The session keeps its ticket and is told.
-- @include lib/line_of
-- @include lib/split
local function hold_withdraw(pool)
  local newest, latest
  for _, member in ipairs(redis.call('ZRANGEBYLEX', HOLDS, '[' .. pool .. '|', '(' .. pool .. '|\255')) do
    local ticket = line_of(pool, split(member)[2]) or ''
    if not latest or ticket > latest then newest, latest = member, ticket end
  end
  if not newest then return false end
  local session = split(newest)[2]
  redis.call('ZREM', HOLDS, newest)
  redis.call('ZREM', DEADLINES, 'hold|' .. newest)
  redis.call('PUBLISH', channel .. 'wake:' .. session, 'withdrawn ' .. pool)
  event('hold_withdrawn', 'session', session, 'pool', pool)
  return true
end
