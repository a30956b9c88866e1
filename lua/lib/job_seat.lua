-- Gives a job a slot of its queue, with a new fence unless it brings one. Its state says whether it has to confirm
-- (`granted`) or runs at once (`running`). Where anybody waits, the caller writes the owner's turns anew around it.
-- @include lib/number
-- @include lib/places
local function job_seat(id, job, state)
  local by_lane, by_owner = places(id, job)
  if job.state == 'waiting' then redis.call('ZREM', WAITING, by_lane, by_owner) end
  redis.call('ZADD', RUNNING, '0', by_lane, '0', by_owner)
  job.fence = job.fence or number('fence')
  if redis.call('ZADD', SERVED, job.fence, job.queue .. '|' .. job.owner) == 1 and redis.call('ZCARD', SERVED) > 10000 then
    redis.call('ZPOPMIN', SERVED)
  end
  job.state, job.grantedAt = state, board.now
  if state == 'running' then job.startedAt = board.now end
  job_put(id, job)
end
