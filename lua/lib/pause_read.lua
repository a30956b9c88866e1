-- The pause as JSON {by, label, reason, since}, "" when the scope is not paused.
local function pause_read()
  if not board.paused then return '' end
  local v = redis.call('HMGET', PAUSE, 'by', 'label', 'reason', 'since')
  return cjson.encode({ by = v[1] or nil, label = v[2] or nil, reason = v[3] or nil, since = tonumber(v[4] or nil) })
end
