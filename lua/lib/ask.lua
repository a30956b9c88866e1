-- A waiter asks: back into the line if it was passed over, inside an ancestor's slot if one holds the queue by now, else
-- its queue is served, which may grant it a slot. Returns its record as it is then.
-- @include lib/holder_above
-- @include lib/job_inside
-- @include lib/job_wait
-- @include lib/promote
local function ask(id, job)
  local holder = not board.settling and job.parent and holder_above(job.queue, job.parent)
  if holder then
    turns('ZREM', job)
    job_leave_slot(id, job)
    turns('ZADD', job)
    job_inside(id, job, holder)
    event('job_started', 'job', id, 'queue', job.queue, 'lane', job.lane, 'owner', job.owner, 'fence', job.fence,
      'inside', holder)
    return job
  end
  if job.state == 'away' then
    job_wait(id, job)
    event('job_back', 'job', id, 'queue', job.queue)
  end
  board.touched[job.queue] = true
  promote()
  return job_get(id)
end
