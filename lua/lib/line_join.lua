-- Puts a session into a pool's line, once; returns its ticket.
-- @include lib/line_of
-- @include lib/number
local function line_join(pool, session, ticket)
  local known = line_of(pool, session)
  if known then return known end
  ticket = ticket or number('ticket')
  redis.call('ZADD', LINE, '0', 'p|' .. pool .. '|' .. ticket .. '|' .. session, '0', 's|' .. session .. '|' .. pool .. '|' .. ticket)
  event('line_joined', 'session', session, 'pool', pool, 'ticket', ticket)
  return ticket
end
