-- Frees an agent slot; its pool is served again at the end of the call.
local function slot_drop(id, slot)
  redis.call('HDEL', SLOTS, id)
  redis.call('ZREM', SEATS, 's|' .. slot.session .. '|' .. id, 'p|' .. (slot.pool or '') .. '|' .. id)
  redis.call('ZREM', DEADLINES, 'start|' .. id, 'end|' .. id)
  if slot.pool then board.pools[slot.pool] = true end
end
