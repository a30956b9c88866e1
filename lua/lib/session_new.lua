-- The session of this host process: the one it had, taken over with all it holds, or a new one with the lowest free letter.
-- @include lib/letter
-- @include lib/line_touch
-- @include lib/policy_join
-- @include lib/policy_leave
-- @include lib/renew
-- @include lib/session_before
local function session_new(id, sent)
  local before_id, before = session_before(sent.process)
  local one = before or { id = id, joined = board.now, hostSession = host_session, machine = machine }
  id = before_id or id
  local old = one.policy
  one.cwd, one.process, one.bridge, one.version = sent.cwd, sent.process, sent.bridge, sent.version
  one.policy, one.bridgeLostAt = policy, nil
  one.label = one.label or letter(label, id)
  redis.call('HSET', SESSIONS, id, cjson.encode(one))
  redis.call('HDEL', ENDED, id)
  redis.call('ZREM', ENDED_AT, id)
  if old and old ~= policy then redis.call('ZREM', POLICY_USE, old .. '|s|' .. id) end
  redis.call('ZADD', POLICY_USE, '0', policy .. '|s|' .. id)
  if redis.call('HEXISTS', POLICIES, policy) == 0 then policy_join(policy, policy_json) end
  if old and old ~= policy then policy_leave(old) end
  renew('s|' .. id)
  line_touch(id)
  event(before and 'session_reopened' or 'session_joined', 'session', id, 'label', one.label, 'cwd', one.cwd,
    'machine', machine, 'pid', string.format('%d', one.process.pid))
  return id, one
end
