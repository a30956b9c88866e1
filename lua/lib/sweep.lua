-- Looks at what is late or has lapsed: at most 100 a call, the rest next time. The caller's own machine has a process
-- table, so its late ones are only named to the caller; another machine's are dropped when their lease has lapsed.
-- @include lib/job_away
-- @include lib/job_end
-- @include lib/forget
-- @include lib/suspect
local function sweep()
  forget()
  local late = redis.call('ZRANGEBYSCORE', LEASES, '-inf', board.now + math.max(board.lease - 3000, 0), 'WITHSCORES', 'LIMIT', 0, 100)
  for i = 1, #late, 2 do
    local id = string.sub(late[i], 3)
    local job = job_get(id)
    if not job then
      redis.call('ZREM', LEASES, late[i])
    elseif job.machine == machine then
      suspect(id, job)
    elseif tonumber(late[i + 1]) <= board.now then
      job_end(id, job, { how = 'lost', cause = 'its lease lapsed' }, 'job_lost', 'cause', 'lapsed')
    end
  end
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', DEADLINES, '-inf', board.now, 'LIMIT', 0, 100)) do
    redis.call('ZREM', DEADLINES, member)
    local id = string.match(member, '^grant|(.*)$')
    local job = id and job_get(id)
    if job and job.state == 'granted' then job_away(id, job, 'unconfirmed') end
  end
end
