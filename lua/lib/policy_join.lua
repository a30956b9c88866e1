-- Registers a policy that the board does not know yet, which may change the limits; policies that nobody uses any more go
-- in the same step. (The caller has made its participant a user already.) The newest is told by a ticket's number, which,
-- unlike the clock, never goes back.
-- @include lib/count
-- @include lib/limits_compute
-- @include lib/load_note
-- @include lib/number
local function policy_join(policy, json)
  for _, other in ipairs(redis.call('HKEYS', POLICIES)) do
    if count(POLICY_USE, other .. '|') == 0 then redis.call('HDEL', POLICIES, other) end
  end
  local content = cjson.decode(json)
  content.registered = number('ticket')
  redis.call('HSET', POLICIES, policy, cjson.encode(content))
  event('policy_registered', 'policy', policy, 'source', content.source or '')
  limits_compute()
  load_note()
end
