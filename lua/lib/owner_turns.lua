-- The members of `turns` that an owner has now in a queue: one for each lane in which the owner waits. They carry
-- the owner's running count and last grant, so whatever changes those takes the old members out first. Who waits nowhere
-- has none, which is told first, since it is so at most ends.
-- @include lib/count
-- @include lib/split
local function owner_turns(queue, owner, lanes)
  local prefix, turns = 'o|' .. queue .. '|' .. owner .. '|', {}
  local from = '[' .. prefix
  while #turns < #lanes do
    local member = redis.call('ZRANGEBYLEX', WAITING, from, '(' .. prefix .. '\255', 'LIMIT', 0, 1)[1]
    if not member then break end
    local lane = split(member)[4]
    turns[#turns + 1] = queue .. '|' .. lane
    from = '(' .. prefix .. lane .. '|\255'
  end
  if #turns == 0 then return turns end
  local served = redis.call('ZSCORE', SERVED, queue .. '|' .. owner) or 0
  local tail = string.format('|%06d|%016d|', count(RUNNING, prefix), served) .. owner
  for i, turn in ipairs(turns) do turns[i] = turn .. tail end
  return turns
end
