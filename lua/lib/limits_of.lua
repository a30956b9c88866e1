-- The effective limits of a queue (see lib/limits_compute), read once per call; nil when no live policy names it.
local function limits_of(queue)
  local known = board.limits[queue]
  if known == nil then
    local json = redis.call('HGET', LIMITS, 'q|' .. queue)
    known = json and cjson.decode(json) or false
    board.limits[queue] = known
  end
  return known or nil
end
