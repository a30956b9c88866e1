-- Appends the ids of a queue's waiting jobs in the order in which they will be served: lanes by priority; in them by
-- ticket, or under fair share each owner's first, then each owner's second, in the order of their turns.
-- @include lib/split
local function service_order(queue, limits, into)
  local ranked = {}
  local nth = {}
  for _, lane in ipairs(limits.laneOrder) do
    local prefix = queue .. '|' .. lane .. '|'
    local priority, turn = -limits.lanes[lane].priority, {}
    for i, member in ipairs(redis.call('ZRANGEBYLEX', TURNS, '[' .. prefix, '(' .. prefix .. '\255')) do
      turn[split(member)[5]] = i
    end
    for _, member in ipairs(redis.call('ZRANGEBYLEX', WAITING, '[o|' .. prefix, '(o|' .. prefix .. '\255')) do
      local parts = split(member)
      local owner = lane .. '|' .. parts[4]
      nth[owner] = (nth[owner] or 0) + 1
      local fair = limits.order == 'fair-share'
      ranked[#ranked + 1] = { priority, fair and nth[owner] or 0, fair and turn[parts[4]] or 0, parts[5], parts[6] }
    end
  end
  table.sort(ranked, function(a, b)
    for i = 1, 4 do
      if a[i] ~= b[i] then return a[i] < b[i] end
    end
    return a[5] < b[5]
  end)
  for _, job in ipairs(ranked) do into[#into + 1] = job[5] end
end
