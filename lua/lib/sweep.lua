-- Looks at what is late or has lapsed: at most 100 a call, the rest next time. The caller's own machine has a process
-- table, so its late ones are only named to the caller; another machine's are dropped when their lease has lapsed.
-- @include lib/forget
-- @include lib/job_away
-- @include lib/job_end
-- @include lib/session_end
-- @include lib/session_get
-- @include lib/slot_due
-- @include lib/suspect
local function sweep_lease(member, lapsed)
  local kind, id = string.sub(member, 1, 1), string.sub(member, 3)
  local one
  if kind == 'j' then one = job_get(id) else one = session_get(id) end
  if not one then
    redis.call('ZREM', LEASES, member)
  elseif one.machine == machine then
    suspect(kind == 'j' and 'job' or 'session', id, one)
  elseif lapsed and kind == 'j' then
    job_end(id, one, { how = 'lost', cause = 'its lease lapsed' }, 'job_lost', 'cause', 'lapsed')
  elseif lapsed then
    session_end(id, one, { how = 'lost', cause = 'its lease lapsed' })
  end
end

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
