-- How many agents a subagent may have at once: 'nestedFull' when it has them; its own ending ones are settled first, oldest
-- first, as many as needed.
-- @include lib/slot_end
-- @include lib/slots_of
local function spawn_nested(rules)
  local most = rules.nested.maxRunningPerParent or 1
  local live, ending = 0, {}
  for _, one in ipairs(slots_of(session)) do
    if one.slot.parent == parent then
      live = live + 1
      if one.slot.state == 'ending' then ending[#ending + 1] = one end
    end
  end
  for _, one in ipairs(ending) do
    if live < most then break end
    slot_end(one.id, one.slot, 'ended')
    live = live - 1
  end
  if live >= most then return 'nestedFull' end
end
