-- Moves a job from one policy to another, unless that does not name its queue and lane: perhaps nobody would serve it then.
-- @include lib/policy_join
-- @include lib/policy_leave
local function policy_change(id, job, policy, json)
  local queue = (cjson.decode(json).queues or {})[job.queue]
  if not queue or (job.lane ~= 'default' and not (queue.lanes or {})[job.lane]) then return end
  local old = job.policy
  job.policy = policy
  job_put(id, job)
  redis.call('ZADD', POLICY_USE, '0', policy .. '|j|' .. id)
  redis.call('ZREM', POLICY_USE, old .. '|j|' .. id)
  if redis.call('HEXISTS', POLICIES, policy) == 0 then policy_join(policy, json) end
  policy_leave(old)
end
