-- What the live policies together say of one queue: the smallest slots, time limit, reserve and max that any of them
-- names; order and priorities of the newest. `named` is in order of registration. limitedBy: "policy" when one lowers
-- what another says, "load" when a load cap bites.
-- @include lib/lane_limits
local function queue_limits(named, load)
  local limits = { order = 'fifo', lanes = { default = { priority = 0 } }, laneOrder = {}, reserved = 0 }
  for _, queue in ipairs(named) do
    if limits.slots and limits.slots ~= queue.slots then limits.limitedBy = 'policy' end
    limits.slots, limits.timeLimitMs = least(limits.slots, queue.slots), least(limits.timeLimitMs, queue.timeLimitMs)
    limits.order = queue.order or 'fifo'
    lane_limits(limits.lanes, queue.lanes)
  end
  limits.effective = limits.slots
  for _, queue in ipairs(named) do
    for _, cap in ipairs(queue.loadCaps or {}) do
      if load > cap[1] and cap[2] < limits.effective then limits.effective, limits.limitedBy = cap[2], 'load' end
    end
  end
  for name, lane in pairs(limits.lanes) do
    lane.reserved = lane.reserved or 0
    limits.reserved = limits.reserved + lane.reserved
    limits.laneOrder[#limits.laneOrder + 1] = name
  end
  table.sort(limits.laneOrder, function(a, b)
    local first, second = limits.lanes[a].priority, limits.lanes[b].priority
    if first ~= second then return first > second end
    return a < b
  end)
  return limits
end
