-- Takes an owner's turns out ('ZREM') before a change of its waiting or running jobs, or writes them ('ZADD') after it.
-- @include lib/limits_of
-- @include lib/owner_turns
local function turns(command, job)
  local limits = limits_of(job.queue)
  for _, turn in ipairs(owner_turns(job.queue, job.owner, limits and limits.laneOrder or { job.lane })) do
    if command == 'ZADD' then redis.call('ZADD', TURNS, '0', turn) else redis.call('ZREM', TURNS, turn) end
  end
end
