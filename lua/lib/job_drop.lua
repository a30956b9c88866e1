-- Takes everything of a job off the board but its tombstone, which tells whoever asks about it later `how` it ended.
-- @include lib/job_leave_slot
-- @include lib/tombstone
local function job_drop(id, job, how, kind, ...)
  job_leave_slot(id, job)
  redis.call('ZREM', LEASES, 'j|' .. id)
  if job.state == 'granted' then redis.call('ZREM', DEADLINES, 'grant|' .. id) end
  redis.call('HDEL', JOBS, id)
  redis.call('ZREM', POLICY_USE, job.policy .. '|j|' .. id)
  how.fence, how.instance, how.queue = job.fence, job.process.instance, job.queue
  tombstone(id, how)
  event(kind, 'job', id, 'queue', job.queue, 'lane', job.lane, 'owner', job.owner, ...)
end
