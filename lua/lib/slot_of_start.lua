-- The slot that a run's start is for: the one that is the agent's already; else a starting one of that agent id; else of the
-- same parent and type, the oldest first; else nil. `slots`: all of the session's.
local function slot_of_start(slots, agent)
  local by_id, by_parent
  for _, one in ipairs(slots) do
    local slot = one.slot
    if slot.agent == agent.id and slot.state ~= 'starting' then return one end
    if slot.state == 'starting' and slot.agent == agent.id then by_id = by_id or one end
    local alike = slot.parent == agent.parent and string.lower(slot.type) == string.lower(agent.type)
    if slot.state == 'starting' and alike then by_parent = by_parent or one end
  end
  return by_id or by_parent
end
