-- The end of an agent's run: the slot is free and the log has it.
-- @include lib/slot_drop
local function slot_end(id, slot, outcome)
  slot_drop(id, slot)
  event('run_ended', 'session', slot.session, 'slot', id, 'agentId', slot.agent or '', 'pool', slot.pool or '', 'outcome', outcome)
end
