-- The members of `turns` that an owner has now in a queue: one for each lane in which the owner waits. They carry
-- the owner's running count and last grant, so whatever changes those takes the old members out first.
-- @include lib/count
-- @include lib/first
local function owner_turns(queue, owner, lanes)
  local turns, running = {}, 0
  for _, lane in ipairs(lanes) do
    running = running + count(RUNNING, 'o|' .. queue .. '|' .. lane .. '|' .. owner .. '|')
  end
  local served = redis.call('ZSCORE', SERVED, queue .. '|' .. owner) or 0
  local tail = string.format('|%06d|%016d|', running, served) .. owner
  for _, lane in ipairs(lanes) do
    if first(WAITING, 'o|' .. queue .. '|' .. lane .. '|' .. owner .. '|') then
      turns[#turns + 1] = queue .. '|' .. lane .. tail
    end
  end
  return turns
end
