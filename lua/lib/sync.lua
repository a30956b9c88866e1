-- Compares the board with what really runs in a session: an agent absent from two lists in a row has ended, one that nobody
-- announced is counted as revived. Returns those that began by it: [{id, pool, overBy, unqueued}].
-- @include lib/slot_end
-- @include lib/slots_of
-- @include lib/start
local function sync(id, record, agents)
  local runs, slots, began = {}, slots_of(id), {}
  for _, agent in ipairs(agents) do
    runs[agent.id] = true
    local parent = agent.parent or {}
    local one = { id = agent.id, parent = parent.id or '', kind = parent.kind or 'main', type = agent.type }
    local over, pool, mark, news = start(id, record, one, agent.slot, agent.unqueued or 'revived', slots)
    if news then began[#began + 1] = { id = agent.id, pool = pool or '', overBy = over, unqueued = mark or '' } end
  end
  for _, one in ipairs(slots) do
    local slot = one.slot
    if slot.state == 'running' and not runs[slot.agent] then
      if slot.absent then
        slot_end(one.id, slot, 'lost')
      else
        slot.absent = true
        slot_put(one.id, slot)
      end
    end
  end
  return began
end
