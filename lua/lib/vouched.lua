-- Takes in what the caller saw in its process table: `live` renews the lease, `gone` drops the job, `orphaned` (the
-- runner is gone, its command is not) keeps the slot. It holds only for the very process that was looked at.
-- @include lib/job_end
-- @include lib/session_vouched
local function vouched(seen)
  if seen.kind == 'session' then return session_vouched(seen) end
  local job = seen.kind == 'job' and job_get(seen.id)
  if not job then return end
  local process = job.process
  if process.pid ~= seen.pid or process.start ~= seen.start or process.instance ~= seen.instance then return end
  if seen.is == 'gone' then
    return job_end(seen.id, job, { how = 'lost', cause = 'its process is gone' }, 'job_lost', 'cause', 'gone')
  end
  if seen.is == 'orphaned' and job.state ~= 'waiting' and job.state ~= 'away' then
    local known = job.state == 'orphaned'
    if job.state == 'granted' then redis.call('ZREM', DEADLINES, 'grant|' .. seen.id) end
    job.state, job.pids = 'orphaned', seen.pids
    job_put(seen.id, job)
    if not known then event('job_orphaned', 'job', seen.id, 'queue', job.queue, 'pids', table.concat(seen.pids, ' ')) end
  end
  redis.call('ZADD', LEASES, 'XX', board.now + board.lease, 'j|' .. seen.id)
end
