-- What a session's own policy says of agents: pools with their types, exempt and nested types, times.
local function agents_policy(session)
  local json = redis.call('HGET', POLICIES, session.policy)
  return json and cjson.decode(json).agents or {}
end
