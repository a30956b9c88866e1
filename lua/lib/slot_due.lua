-- A deadline of agents that has passed: a start that never came, a run that has really ended, a hold nobody used.
-- @include lib/line_leave
-- @include lib/slot_end
-- @include lib/slot_get
-- @include lib/split
local function slot_due(member)
  local parts = split(member)
  if parts[1] == 'hold' then
    line_leave(parts[2], parts[3])
    return event('hold_lapsed', 'session', parts[3], 'pool', parts[2])
  end
  local slot = slot_get(parts[2])
  if not slot then return end
  if parts[1] == 'start' and slot.state == 'starting' then
    slot_drop(parts[2], slot)
    event('start_timed_out', 'session', slot.session, 'slot', parts[2], 'agentId', slot.agent or '', 'pool', slot.pool or '')
  elseif parts[1] == 'end' and slot.state == 'ending' then
    slot_end(parts[2], slot, 'ended')
  end
end
