-- Seats a job that starts at once while others wait, or that has ancestors: inside the slot that one of them holds, or in
-- a slot of its own.
-- @include lib/job_inside
-- @include lib/turns
local function enqueue_among(id, job, holder)
  if job.parent then redis.call('ZADD', NEST, '0', 'c|' .. job.parent .. '|' .. id) end
  if holder then return job_inside(id, job, holder) end
  turns('ZREM', job)
  job_seat(id, job, 'running')
  turns('ZADD', job)
end
