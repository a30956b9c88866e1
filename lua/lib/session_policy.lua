-- Moves a session from one policy to another.
-- @include lib/policy_join
-- @include lib/policy_leave
local function session_policy(id, session_record, new, json)
  local old = session_record.policy
  session_record.policy = new
  redis.call('HSET', SESSIONS, id, cjson.encode(session_record))
  redis.call('ZADD', POLICY_USE, '0', new .. '|s|' .. id)
  redis.call('ZREM', POLICY_USE, old .. '|s|' .. id)
  if redis.call('HEXISTS', POLICIES, new) == 0 then policy_join(new, json) end
  policy_leave(old)
end
