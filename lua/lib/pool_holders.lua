-- Which sessions hold how many slots of a pool, as JSON [{label, n}], the most first.
-- @include lib/session_get
-- @include lib/slot_get
-- @include lib/split
local function pool_holders(pool)
  local counts, found = {}, {}
  for _, member in ipairs(redis.call('ZRANGEBYLEX', SEATS, '[p|' .. pool .. '|', '(p|' .. pool .. '|\255', 'LIMIT', 0, 200)) do
    local slot = slot_get(split(member)[3])
    counts[slot.session] = (counts[slot.session] or 0) + 1
  end
  for id, n in pairs(counts) do
    local record = session_get(id)
    found[#found + 1] = { label = record and record.label or id, n = n }
  end
  table.sort(found, function(a, b)
    if a.n ~= b.n then return a.n > b.n end
    return a.label < b.label
  end)
  return #found > 0 and cjson.encode(found) or '[]'
end
