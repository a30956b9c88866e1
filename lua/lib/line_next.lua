-- The first session in a pool's line that has a lease and no hold yet, or nil.
-- @include lib/split
local function line_next(pool)
  for _, member in ipairs(redis.call('ZRANGEBYLEX', LINE, '[p|' .. pool .. '|', '(p|' .. pool .. '|\255')) do
    local session = split(member)[4]
    local lease = tonumber(redis.call('ZSCORE', LEASES, 's|' .. session)) or 0
    if lease > board.now and not redis.call('ZSCORE', HOLDS, pool .. '|' .. session) then return session end
  end
end
