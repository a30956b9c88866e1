-- Writes an agent slot's record and its members in `seats`: by session, and by pool when it counts against one.
local function slot_put(id, slot)
  redis.call('HSET', SLOTS, id, cjson.encode(slot))
  local by_session = 's|' .. slot.session .. '|' .. id
  if slot.pool then
    redis.call('ZADD', SEATS, '0', by_session, '0', 'p|' .. slot.pool .. '|' .. id)
  else
    redis.call('ZADD', SEATS, '0', by_session)
  end
end
