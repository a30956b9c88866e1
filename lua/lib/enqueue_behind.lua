-- A job that cannot start now: it joins the line, or nothing of it stays when it will not wait or could wait for ever.
-- @include lib/job_queued
-- @include lib/job_wait
-- @include lib/knot
-- @include lib/policy_leave
-- @include lib/renew
-- @include lib/waiting_reply
local function enqueue_behind(id, job, ancestors)
  local never = wait ~= '0' and job.parent and not board.settling and not board.paused and knot(job.queue, job.lane, ancestors)
  if wait == '0' or never then
    redis.call('ZREM', POLICY_USE, job.policy .. '|j|' .. id)
    policy_leave(job.policy)
    local prefix = 'q|' .. job.queue .. '|'
    local holders = redis.call('ZRANGEBYLEX', RUNNING, '[' .. prefix, '(' .. prefix .. '\255', 'LIMIT', 0, 32)
    local cause = never and 'knot' or board.settling and 'settling' or board.paused and 'paused' or 'full'
    return { never and 'knot' or 'busy', 'cause', cause, 'holders', records(holders, 5) }
  end
  job.ticket = number('ticket')
  renew('j|' .. id)
  if job.parent then redis.call('ZADD', NEST, '0', 'c|' .. job.parent .. '|' .. id) end
  job_queued(id, job)
  job_wait(id, job)
  return waiting_reply(id, job)
end
