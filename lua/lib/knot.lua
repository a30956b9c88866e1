-- Whether a wait could never end: every holder that could serve it is an ancestor of the asking job, or has a waiting
-- descendant for which the same is true. Bounded at 500 looks; beyond that it is allowed to wait.
-- @include lib/count
-- @include lib/split
local function knot(queue, lane, ancestors)
  local looks, on_path = 0, {}
  local stuck

  local function waits_for_ever(id)
    looks = looks + 1
    if looks > 500 then return false end
    local job = job_get(id)
    if job and (job.state == 'waiting' or job.state == 'away') then
      if on_path[id] then return true end
      on_path[id] = true
      local never = stuck(job.queue, job.lane)
      on_path[id] = nil
      if never then return true end
    end
    for _, member in ipairs(redis.call('ZRANGEBYLEX', NEST, '[c|' .. id .. '|', '(c|' .. id .. '|\255')) do
      if waits_for_ever(split(member)[3]) then return true end
    end
    return false
  end

  function stuck(name, in_lane)
    local limits = limits_of(name)
    local max = limits and limits.lanes[in_lane] and limits.lanes[in_lane].max
    local prefix = 'q|' .. name .. '|'
    if max and count(RUNNING, prefix .. in_lane .. '|') >= max then prefix = prefix .. in_lane .. '|' end
    local holders = redis.call('ZRANGEBYLEX', RUNNING, '[' .. prefix, '(' .. prefix .. '\255')
    for _, member in ipairs(holders) do
      local id = split(member)[5]
      if not ancestors[id] and not waits_for_ever(id) then return false end
    end
    return #holders > 0
  end

  return stuck(queue, lane)
end
