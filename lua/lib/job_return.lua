-- Takes a living job in again, with its ticket and fence; the counters are raised to them, so neither ever goes back. (The
-- fences a second further: others that are not back yet may hold the next ones, which follow each other directly when the
-- clock stood behind.)
-- @include lib/job_reseat
-- @include lib/job_wait
-- @include lib/policy_join
-- @include lib/raise
local function job_return(id, job)
  job.id, job.queue, job.lane, job.policy, job.machine = id, queue, lane, policy, machine
  redis.call('HDEL', ENDED, id)
  redis.call('ZREM', ENDED_AT, id)
  raise('ticket', ticket)
  if #fence == 16 then raise('fence', string.format('%016d', fence + 1000500)) end
  job.ticket = ticket ~= '' and ticket or number('ticket')
  redis.call('ZADD', POLICY_USE, '0', policy .. '|j|' .. id)
  if redis.call('HEXISTS', POLICIES, policy) == 0 then policy_join(policy, policy_json) end
  if job.parent then redis.call('ZADD', NEST, '0', 'c|' .. job.parent .. '|' .. id) end
  if state == 'waiting' then job_wait(id, job) else job_reseat(id, job) end
  event('reregistered', 'job', id, 'queue', queue, 'lane', lane, 'owner', job.owner, 'state', state,
    'ticket', job.ticket, 'fence', job.fence or '', 'inside', job.inside or '', 'record', record)
end
