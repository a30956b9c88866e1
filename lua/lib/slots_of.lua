-- The slots of a session as {id, record}, oldest first.
local function slots_of(session)
  local prefix, ids, found = 's|' .. session .. '|', {}, {}
  for i, member in ipairs(redis.call('ZRANGEBYLEX', SEATS, '[' .. prefix, '(' .. prefix .. '\255')) do
    ids[i] = string.sub(member, #prefix + 1)
  end
  for from = 1, #ids, 1000 do
    local some = redis.call('HMGET', SLOTS, unpack(ids, from, math.min(from + 999, #ids)))
    for i, json in ipairs(some) do found[from + i - 1] = { id = ids[from + i - 1], slot = cjson.decode(json) } end
  end
  table.sort(found, function(a, b)
    if a.slot.since ~= b.slot.since then return a.slot.since < b.slot.since end
    return a.id < b.id
  end)
  return found
end
