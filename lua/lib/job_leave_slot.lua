-- Takes a job out of `waiting` and `running`, whichever it stands in; its queue is served again at the end of the call.
-- @include lib/places
local function job_leave_slot(id, job)
  board.touched[job.queue] = true
  if job.inside or job.state == 'away' then return end
  redis.call('ZREM', job.state == 'waiting' and WAITING or RUNNING, places(id, job))
end
