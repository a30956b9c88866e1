-- The session that the same host process had under the same host session id, as id and record, or nil.
local function session_before(process)
  local all = redis.call('HGETALL', SESSIONS)
  for i = 1, #all, 2 do
    local one = cjson.decode(all[i + 1])
    if one.hostSession == host_session and one.machine == machine and one.process.pid == process.pid
      and one.process.start == process.start then return all[i], one end
  end
end
