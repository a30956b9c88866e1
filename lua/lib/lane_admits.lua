-- Whether a lane of a queue may start one job more now, of whose slots `free` are free.
-- @include lib/count
-- @include lib/lane_fits
local function lane_admits(queue, limits, lane, free)
  if free <= 0 then return false end
  if #limits.laneOrder == 1 and limits.lanes[lane] and not limits.lanes[lane].max then return true end
  return lane_fits(limits, lane, limits.effective, free, function(name)
    return count(RUNNING, 'q|' .. queue .. '|' .. name .. '|')
  end)
end
