-- Ends a job that others may wait for, run inside, or share the board with under other policies.
-- @include lib/job_drop
-- @include lib/job_pass_on
-- @include lib/policy_leave
-- @include lib/turns
local function job_end(id, job, how, kind, ...)
  turns('ZREM', job)
  job_drop(id, job, how, kind, ...)
  turns('ZADD', job)
  job_pass_on(id, job)
  policy_leave(job.policy)
end
