-- Writes the turns of a queue whose order is another one now: of all owners that wait under fair share, else none.
-- @include lib/owner_turns
-- @include lib/split
local function turns_anew(queue, limits)
  local old = redis.call('ZRANGEBYLEX', TURNS, '[' .. queue .. '|', '(' .. queue .. '|\255')
  for _, turn in ipairs(old) do redis.call('ZREM', TURNS, turn) end
  local seen = {}
  for _, lane in ipairs(limits.order == 'fair-share' and limits.laneOrder or {}) do
    local prefix = 'o|' .. queue .. '|' .. lane .. '|'
    for _, member in ipairs(redis.call('ZRANGEBYLEX', WAITING, '[' .. prefix, '(' .. prefix .. '\255')) do
      seen[split(member)[4]] = true
    end
  end
  for owner in pairs(seen) do
    for _, turn in ipairs(owner_turns(queue, owner, limits.laneOrder)) do redis.call('ZADD', TURNS, '0', turn) end
  end
end
