-- Takes a job that runs off the place that the board kept for it; `job_return` then seats it with what it really has.
-- @include lib/job_leave_slot
-- @include lib/turns
local function job_unseat(id, job)
  turns('ZREM', job)
  job_leave_slot(id, job)
  turns('ZADD', job)
  redis.call('ZREM', DEADLINES, 'grant|' .. id)
  redis.call('ZREM', POLICY_USE, job.policy .. '|j|' .. id)
  if job.inside then redis.call('ZREM', NEST, 'i|' .. job.inside .. '|' .. id) end
end
