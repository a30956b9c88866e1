-- The lines of all pools in ticket order, and the holds with their deadlines, as two JSON lists.
-- @include lib/split
local function pools_read()
  local line, holds = {}, {}
  for _, member in ipairs(redis.call('ZRANGEBYLEX', LINE, '[p|', '(p|\255')) do
    local parts = split(member)
    line[#line + 1] = { pool = parts[2], ticket = parts[3], session = parts[4] }
  end
  for _, member in ipairs(redis.call('ZRANGE', HOLDS, 0, -1)) do
    local parts = split(member)
    local at = redis.call('ZSCORE', DEADLINES, 'hold|' .. member)
    holds[#holds + 1] = { pool = parts[1], session = parts[2], ['until'] = at and tonumber(at) or nil }
  end
  return #line > 0 and cjson.encode(line) or '[]', #holds > 0 and cjson.encode(holds) or '[]'
end
