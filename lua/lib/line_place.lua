-- A session's place in a pool's line by its ticket, 1 = next.
local function line_place(pool, ticket)
  return string.format('%d', redis.call('ZLEXCOUNT', LINE, '[p|' .. pool .. '|', '(p|' .. pool .. '|' .. ticket) + 1)
end
