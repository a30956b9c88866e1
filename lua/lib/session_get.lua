-- A session's record, or nil.
local function session_get(id)
  local json = redis.call('HGET', SESSIONS, id)
  return json and cjson.decode(json)
end
