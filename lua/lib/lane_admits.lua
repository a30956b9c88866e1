-- Whether a lane of a queue may start one job more now.
-- @include lib/count
-- @include lib/lane_fits
local function lane_admits(queue, limits, lane)
  local free = limits.effective - count(RUNNING, 'q|' .. queue .. '|')
  if free <= 0 then return false end
  if #limits.laneOrder == 1 and limits.lanes[lane] and not limits.lanes[lane].max then return true end
  return lane_fits(limits, lane, limits.effective, free, function(name)
    return count(RUNNING, 'q|' .. queue .. '|' .. name .. '|')
  end)
end
