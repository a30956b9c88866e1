-- Serves the lines of the pools that this call touched: free slots become holds for the first in line who still have a
-- lease and none yet; holds that a lowered cap has no room for are taken back first.
-- @include lib/hold_give
-- @include lib/hold_withdraw
-- @include lib/line_next
-- @include lib/pool_of
local function promote_pools()
  if board.settling or board.paused or not next(board.pools) then return end
  local pools = board.pools
  board.pools = {}
  for pool in pairs(pools) do
    local effective, used, held = pool_of(pool)
    while effective and held > 0 and used + held > effective and hold_withdraw(pool) do held = held - 1 end
    while effective and used + held < effective do
      local session = line_next(pool)
      if not session then break end
      hold_give(pool, session)
      held = held + 1
    end
  end
end
