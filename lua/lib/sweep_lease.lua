-- Looks at one late lease. The caller's own machine has a process table, so its late ones are only named to the caller;
-- another machine's are dropped when their lease has lapsed.
-- @include lib/job_end
-- @include lib/session_end
-- @include lib/session_get
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
