-- A waiter that was not listening, or did not confirm its grant: it leaves the line but keeps its ticket, and its next
-- ask puts it back there. So one that hangs, or died, holds nobody up.
-- @include lib/job_leave_slot
-- @include lib/suspect
-- @include lib/turns
local function job_away(id, job, cause)
  turns('ZREM', job)
  job_leave_slot(id, job)
  turns('ZADD', job)
  redis.call('ZREM', DEADLINES, 'grant|' .. id)
  job.state, job.fence, job.grantedAt = 'away', nil, nil
  job_put(id, job)
  event('job_away', 'job', id, 'queue', job.queue, 'cause', cause)
  suspect('job', id, job)
end
