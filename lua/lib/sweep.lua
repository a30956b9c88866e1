-- Looks at what is late or has lapsed: at most 100 a call, the rest next time.
-- @include lib/forget
-- @include lib/job_away
-- @include lib/slot_due
-- @include lib/sweep_lease
local function sweep()
  forget()
  local overdue = board.now + math.max(board.lease - 3000, 0)
  local late = redis.call('ZRANGEBYSCORE', LEASES, '-inf', overdue, 'WITHSCORES', 'LIMIT', 0, 100)
  for i = 1, #late, 2 do sweep_lease(late[i], tonumber(late[i + 1]) <= board.now) end
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', DEADLINES, '-inf', board.now, 'LIMIT', 0, 100)) do
    redis.call('ZREM', DEADLINES, member)
    local id = string.match(member, '^grant|(.*)$')
    local job = id and job_get(id)
    if job and job.state == 'granted' then job_away(id, job, 'unconfirmed') end
    if not id then slot_due(member) end
  end
end
