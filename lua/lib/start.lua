-- A run began: the slot that is its own already goes on; else a starting one of that agent id, or else of the same parent
-- and type, the oldest first; else it is counted without approval. Returns by how many the pool is over its cap through
-- that, the pool, the mark, and whether this is news. (unqueued "none": it had gone through omp's queue before the board
-- lost it.) `slots`: all of the session's (lib/slots_of), kept as they are then: who starts many reads them once.
-- @include lib/agents_policy
-- @include lib/pool_for
-- @include lib/pool_of
-- @include lib/slot_of_start
-- @include lib/slot_put
local function start(session, record, agent, new_id, unqueued, slots)
  local one = slot_of_start(slots, agent)
  local slot = one and one.slot
  local over, was = 0, slot and slot.state
  if was == 'running' then
    if slot.absent then
      slot.absent = nil
      slot_put(one.id, slot)
    end
    return 0, slot.pool, slot.unqueued
  end
  if not slot then
    local rules = agents_policy(record)
    local pool
    if agent.kind ~= 'sub' then pool = pool_for(rules, agent.type) end
    one = { id = new_id }
    slot = { session = session, parent = agent.parent, kind = agent.kind, type = agent.type, pool = pool }
    if unqueued ~= 'none' then slot.unqueued = unqueued end
    one.slot, slots[#slots + 1] = slot, one
    local effective, used, held = pool_of(pool or '')
    if pool and effective then over = math.max(0, used + 1 - effective) end
    if pool and held > 0 then board.pools[pool] = true end
  end
  redis.call('ZREM', DEADLINES, 'start|' .. one.id, 'end|' .. one.id)
  slot.agent, slot.state, slot.since, slot.absent = agent.id, 'running', was == 'ending' and slot.since or board.now, nil
  slot_put(one.id, slot)
  event('run_started', 'session', session, 'label', record.label, 'slot', one.id, 'agentId', agent.id, 'agentType', agent.type,
    'pool', slot.pool or '', 'parent', agent.parent, 'revived', (not was and '1') or '')
  return over, slot.pool, slot.unqueued, true
end
