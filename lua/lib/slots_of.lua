-- The slots of a session as {id, record}, oldest first.
-- @include lib/slot_get
-- @include lib/split
local function slots_of(session)
  local found = {}
  for _, member in ipairs(redis.call('ZRANGEBYLEX', SEATS, '[s|' .. session .. '|', '(s|' .. session .. '|\255')) do
    local id = split(member)[3]
    found[#found + 1] = { id = id, slot = slot_get(id) }
  end
  table.sort(found, function(a, b)
    if a.slot.since ~= b.slot.since then return a.slot.since < b.slot.since end
    return a.id < b.id
  end)
  return found
end
