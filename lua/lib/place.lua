-- A waiting job's place in its queue, 1 = next. Under fair share it is "about": turns change as owners are served.
-- @include lib/count
-- @include lib/limits_of
-- @include lib/owner_turns
local function place(id, job)
  local limits = limits_of(job.queue)
  local mine = limits.lanes[job.lane] or { priority = 0 }
  local ahead, fair = 0, limits.order == 'fair-share'
  for name, lane in pairs(limits.lanes) do
    local prefix = 'q|' .. job.queue .. '|' .. name .. '|'
    if lane.priority > mine.priority then
      ahead = ahead + count(WAITING, prefix)
    elseif lane.priority == mine.priority and not (fair and name == job.lane) then
      ahead = ahead + redis.call('ZLEXCOUNT', WAITING, '[' .. prefix, '(' .. prefix .. job.ticket)
    end
  end
  if not fair then return ahead + 1, '' end
  local lane = job.queue .. '|' .. job.lane .. '|'
  local own = 'o|' .. job.queue .. '|' .. job.owner .. '|' .. job.lane .. '|'
  local earlier = redis.call('ZLEXCOUNT', WAITING, '[' .. own, '(' .. own .. job.ticket)
  local rank = 0
  local written = board.turns
  local known = written and written.queue == job.queue and written.owner == job.owner and written.members
  for _, turn in ipairs(known or owner_turns(job.queue, job.owner, limits.laneOrder)) do
    if string.sub(turn, 1, #lane) == lane then rank = redis.call('ZLEXCOUNT', TURNS, '[' .. lane, '(' .. turn) end
  end
  local all = count(WAITING, 'q|' .. lane)
  return ahead + math.min(all, earlier * count(TURNS, lane) + rank + 1), '1'
end
