-- The members of `turns` that an owner has now in a queue: one for each lane in which the owner waits. They carry
-- the owner's running count and last grant, so whatever changes those takes the old members out first. Who waits nowhere
-- has none, which is told first, since it is so at most ends.
-- @include lib/count
-- @include lib/first
local function owner_turns(queue, owner, lanes)
  local turns, running = {}, 0
  for _, lane in ipairs(lanes) do
    if first(WAITING, 'o|' .. queue .. '|' .. lane .. '|' .. owner .. '|') then
      turns[#turns + 1] = queue .. '|' .. lane
    end
  end
  if #turns == 0 then return turns end
  for _, lane in ipairs(lanes) do
    running = running + count(RUNNING, 'o|' .. queue .. '|' .. lane .. '|' .. owner .. '|')
  end
  local served = redis.call('ZSCORE', SERVED, queue .. '|' .. owner) or 0
  local tail = string.format('|%06d|%016d|', running, served) .. owner
  for i, turn in ipairs(turns) do turns[i] = turn .. tail end
  return turns
end
