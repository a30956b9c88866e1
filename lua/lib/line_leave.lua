-- Takes a session out of a pool's line, with its hold (while paused: with what was left of its time); the next is served
-- at the end of the call. Says what it had.
-- @include lib/line_of
local function line_leave(pool, session)
  local ticket = line_of(pool, session)
  local held = redis.call('ZREM', HOLDS, pool .. '|' .. session) == 1
  redis.call('ZREM', DEADLINES, 'hold|' .. pool .. '|' .. session)
  if board.paused then redis.call('HDEL', PAUSE, 'hold|' .. pool .. '|' .. session) end
  if ticket then
    redis.call('ZREM', LINE, 'p|' .. pool .. '|' .. ticket .. '|' .. session, 's|' .. session .. '|' .. pool .. '|' .. ticket)
  end
  board.pools[pool] = true
  return ticket, held
end
