-- The slot of an approved spawn: it counts from now on, and is free again when no start comes in time. Returns its record.
-- @include lib/slot_put
local function spawn_seat(session_record, rules, pool)
  local one = { session = session, agent = key ~= '' and key or nil, parent = parent, kind = parent_kind, type = type,
    pool = pool, state = 'starting', since = board.now, unqueued = invocation == 'eval' and 'eval' or nil }
  slot_put(slot, one)
  redis.call('ZADD', DEADLINES, board.now + (rules.startTimeoutMs or 120000), 'start|' .. slot)
  event('spawn_approved', 'session', session, 'label', session_record.label, 'slot', slot, 'agentId', key, 'agentType', type,
    'pool', pool or '', 'parent', parent)
  return one
end
