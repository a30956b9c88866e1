-- Whether a wait could never end: the lane would be full of slots that are never given back. Such a slot's holder, or a
-- job inside it, is an ancestor of the asking job or has a waiting descendant for which the same is true. A load cap does
-- not count, it may go. Bounded at 500 looks; beyond that it is allowed to wait.
-- @include lib/lane_fits
-- @include lib/limits_of
-- @include lib/split
local function knot(queue, lane, ancestors)
  local looks, on_path = 0, {}
  local stuck

  local function stays(id, links)
    looks = looks + 1
    if looks > 500 then return false end
    if ancestors[id] then return true end
    local job = job_get(id)
    if job and (job.state == 'waiting' or job.state == 'away') then
      if on_path[id] then return true end
      on_path[id] = true
      local never = stuck(job.queue, job.lane)
      on_path[id] = nil
      if never then return true end
    end
    for _, kind in ipairs(links) do
      for _, member in ipairs(redis.call('ZRANGEBYLEX', NEST, '[' .. kind .. id .. '|', '(' .. kind .. id .. '|\255')) do
        if stays(split(member)[3], { 'c|' }) then return true end
      end
    end
    return false
  end

  function stuck(name, in_lane)
    local limits, prefix, staying, all = limits_of(name), 'q|' .. name .. '|', {}, 0
    for _, member in ipairs(redis.call('ZRANGEBYLEX', RUNNING, '[' .. prefix, '(' .. prefix .. '\255')) do
      local parts = split(member)
      if stays(parts[5], { 'c|', 'i|' }) then staying[parts[3]], all = (staying[parts[3]] or 0) + 1, all + 1 end
    end
    return all > 0 and limits and not lane_fits(limits, in_lane, limits.slots, limits.slots - all, function(other)
      return staying[other] or 0
    end)
  end

  return stuck(queue, lane)
end
