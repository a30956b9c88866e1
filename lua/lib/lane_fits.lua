-- Whether a lane may take one job more when `free` of so many slots are free and `running(lane)` jobs run in each lane
-- (design: lanes). Reserved places are kept for their lane, unless the slots are no more than all reserves together.
local function lane_fits(limits, lane, slots, free, running)
  local own = limits.lanes[lane]
  if not own or free <= 0 then return false end
  local mine = running(lane)
  if own.max and mine >= own.max then return false end
  if limits.reserved == 0 or slots <= limits.reserved or mine < own.reserved then return true end
  for name, other in pairs(limits.lanes) do
    if name ~= lane and other.reserved > 0 then free = free - math.max(0, other.reserved - running(name)) end
  end
  return free > 0
end
