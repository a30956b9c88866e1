-- Ends a job that others may wait for, run inside, or share the board with under other policies.
-- @include lib/job_drop
-- @include lib/job_pass_on
-- @include lib/policy_leave
-- @include lib/turns
local function job_end(id, job, how, kind, ...)
  local waits = turns('ZREM', job)
  job_drop(id, job, how, kind, ...)
  if waits then turns('ZADD', job) end
  job_pass_on(id, job)
  policy_leave(job.policy)
end
