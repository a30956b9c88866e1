-- Serves the lines of the pools that this call touched: free slots become holds for the first in line who still have a
-- lease and none yet; holds that a lowered cap has no room for are taken back first.
-- @include lib/hold_give
-- @include lib/hold_withdraw
-- @include lib/pool_of
-- @include lib/split
local function next_without_hold(pool)
  for _, member in ipairs(redis.call('ZRANGEBYLEX', LINE, '[p|' .. pool .. '|', '(p|' .. pool .. '|\255')) do
    local session = split(member)[4]
    local lease = tonumber(redis.call('ZSCORE', LEASES, 's|' .. session)) or 0
    if lease > board.now and not redis.call('ZSCORE', HOLDS, pool .. '|' .. session) then return session end
  end
end

local function promote_pools()
  if board.settling or board.paused or not next(board.pools) then return end
  local pools = board.pools
  board.pools = {}
  for pool in pairs(pools) do
    local effective, used, held = pool_of(pool)
    while effective and held > 0 and used + held > effective and hold_withdraw(pool) do held = held - 1 end
    while effective and used + held < effective do
      local session = next_without_hold(pool)
      if not session then break end
      hold_give(pool, session)
      held = held + 1
    end
  end
end
