-- Takes an owner's turns out ('ZREM') before a change of its waiting or running jobs, or writes them ('ZADD') after it.
-- Returns whether there were any: only under fair share do owners take turns. The last ones written are kept for lib/place:
-- whatever changes them takes them out first.
-- @include lib/limits_of
-- @include lib/owner_turns
local function turns(command, job)
  local limits = limits_of(job.queue)
  if not limits or limits.order ~= 'fair-share' then return false end
  local members = owner_turns(job.queue, job.owner, limits.laneOrder)
  for _, turn in ipairs(members) do
    if command == 'ZADD' then redis.call('ZADD', TURNS, '0', turn) else redis.call('ZREM', TURNS, turn) end
  end
  board.turns = command == 'ZADD' and { queue = job.queue, owner = job.owner, members = members } or nil
  return #members > 0
end
