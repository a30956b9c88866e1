-- The job that a queue with `free` free slots serves next: of the lanes that admit one, the highest priority; within it
-- (and between lanes of one priority) the earliest ticket, or under fair share the owner with the fewest running jobs,
-- served longest ago.
-- @include lib/lane_admits
-- @include lib/lane_head
local function next_job(queue, limits, free)
  local best, best_rank, best_priority
  for _, lane in ipairs(limits.laneOrder) do
    local priority = limits.lanes[lane].priority
    if best and priority < best_priority then break end
    local id, rank = lane_head(queue, limits, lane)
    if id and (not best or rank < best_rank) and lane_admits(queue, limits, lane, free) then
      best, best_rank, best_priority = id, rank, priority
    end
  end
  return best
end
