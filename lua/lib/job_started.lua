-- A granted job has confirmed: it runs from now on.
local function job_started(id, job)
  job.state, job.startedAt = 'running', board.now
  redis.call('ZREM', DEADLINES, 'grant|' .. id)
  job_put(id, job)
  event('job_started', 'job', id, 'queue', job.queue, 'lane', job.lane, 'owner', job.owner, 'fence', job.fence)
end
