-- Puts a job into its queue's line, at its ticket.
-- @include lib/places
-- @include lib/turns
local function job_wait(id, job)
  turns('ZREM', job)
  local by_lane, by_owner = places(id, job)
  redis.call('ZADD', WAITING, '0', by_lane, '0', by_owner)
  turns('ZADD', job)
  job.state, board.touched[job.queue], board.crowded = 'waiting', true, true
  job_put(id, job)
end
