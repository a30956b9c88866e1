-- Keeps a freed slot for a session in line, for as long as its policy says, and wakes it.
-- @include lib/agents_policy
-- @include lib/line_of
-- @include lib/session_get
local function hold_give(pool, session)
  local record = session_get(session)
  local until_ms = board.now + (agents_policy(record).holdMs or 300000)
  redis.call('ZADD', HOLDS, '0', pool .. '|' .. session)
  redis.call('ZADD', DEADLINES, until_ms, 'hold|' .. pool .. '|' .. session)
  redis.call('PUBLISH', channel .. 'wake:' .. session,
    'hold ' .. pool .. ' ' .. string.format('%d', until_ms) .. ' ' .. line_of(pool, session))
  event('hold_given', 'session', session, 'label', record.label, 'pool', pool, 'until', string.format('%d', until_ms))
end
