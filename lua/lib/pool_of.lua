-- What a pool may hold (effective; nil: no live policy names it), holds now, and keeps for the first in line.
-- @include lib/count
local function pool_of(pool)
  local key = 'p|' .. pool
  if board.limits[key] == nil then
    local json = redis.call('HGET', LIMITS, key)
    board.limits[key] = json and cjson.decode(json) or false
  end
  local limits = board.limits[key]
  return limits and limits.effective or nil, count(SEATS, 'p|' .. pool .. '|'), count(HOLDS, pool .. '|')
end
