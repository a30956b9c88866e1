-- What a session's own policy says of agents: pools with their types, exempt and nested types, times. Read once per call.
local function agents_policy(session)
  local key = 'a|' .. session.policy
  if not board.limits[key] then
    local json = redis.call('HGET', POLICIES, session.policy)
    board.limits[key] = json and cjson.decode(json).agents or {}
  end
  return board.limits[key]
end
