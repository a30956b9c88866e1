-- Drops a policy that has no users left, except the last of the board: it stays until another comes, so that a lone `run`
-- after another does not compute the same limits again each time.
-- @include lib/count
-- @include lib/limits_compute
local function policy_leave(policy)
  if (tonumber(board.meta.policyCount) or 0) < 2 or count(POLICY_USE, policy .. '|') > 0 then return end
  redis.call('HDEL', POLICIES, policy)
  limits_compute()
end
