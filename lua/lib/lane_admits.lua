-- Whether a lane of a queue may start one job more (design: lanes). Reserved places are kept for their lane, unless the
-- effective slots are no more than all reserves together.
-- @include lib/count
local function lane_admits(queue, limits, lane)
  local free = limits.effective - count(RUNNING, 'q|' .. queue .. '|')
  if free <= 0 then return false end
  local own = limits.lanes[lane]
  if not own then return false end
  if #limits.laneOrder == 1 and not own.max then return true end
  local function running(name) return count(RUNNING, 'q|' .. queue .. '|' .. name .. '|') end
  local mine = running(lane)
  if own.max and mine >= own.max then return false end
  if limits.reserved == 0 or limits.effective <= limits.reserved or mine < own.reserved then return true end
  for name, other in pairs(limits.lanes) do
    if name ~= lane and other.reserved > 0 then free = free - math.max(0, other.reserved - running(name)) end
  end
  return free > 0
end
