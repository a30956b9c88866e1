-- The nested rules: a subagent may start only some types, and only so many at once; its own ending ones are settled first.
-- @include lib/matches
-- @include lib/slot_end
-- @include lib/slots_of
local function spawn_nested(rules)
  local nested = rules.nested or {}
  if not matches(type, nested.types) then return 'nestedType' end
  local live, ending = 0, {}
  for _, one in ipairs(slots_of(session)) do
    if one.slot.parent == parent then
      live = live + 1
      if one.slot.state == 'ending' then ending[#ending + 1] = one end
    end
  end
  for _, one in ipairs(ending) do
    if live < (nested.maxRunningPerParent or 1) then break end
    slot_end(one.id, one.slot, 'ended')
    live = live - 1
  end
  if live >= (nested.maxRunningPerParent or 1) then return 'nestedFull' end
end
