-- A session comes back with the tickets that it had in the pools' lines, at the places they stand for.
-- @include lib/line_join
-- @include lib/raise
local function line_return(id, tickets)
  for pool, ticket in pairs(tickets) do
    raise('ticket', ticket)
    line_join(pool, id, ticket)
    board.pools[pool] = true
  end
end
