-- Appends the ids of a queue's waiting jobs in the order in which they will be served: lanes by priority; in them by
-- ticket, or under fair share each owner's first, then each owner's second, in the order of their turns.
-- @include lib/split
local function service_order(queue, limits, into)
  local ranked, nth, turns, last = {}, {}, {}, {}
  for _, turn in ipairs(redis.call('ZRANGEBYLEX', TURNS, '[' .. queue .. '|', '(' .. queue .. '|\255')) do
    local parts = split(turn)
    local lane = parts[2]
    last[lane] = (last[lane] or 0) + 1
    turns[lane .. '|' .. parts[5]] = last[lane]
  end
  local prefix = 'o|' .. queue .. '|'
  for _, member in ipairs(redis.call('ZRANGEBYLEX', WAITING, '[' .. prefix, '(' .. prefix .. '\255')) do
    local parts = split(member)
    local mine = parts[4] .. '|' .. parts[3]
    nth[mine] = (nth[mine] or 0) + 1
    local fair, lane = limits.order == 'fair-share', limits.lanes[parts[4]] or { priority = 0 }
    ranked[#ranked + 1] = { -lane.priority, fair and nth[mine] or 0, fair and turns[mine] or 0, parts[5], parts[6] }
  end
  table.sort(ranked, function(a, b)
    for i = 1, 4 do
      if a[i] ~= b[i] then return a[i] < b[i] end
    end
    return a[5] < b[5]
  end)
  for _, job in ipairs(ranked) do into[#into + 1] = job[5] end
end
