-- Gives a participant a lease from now on; 1 when it had none. The time is handed over as text: a number would be spelt
-- with 17 digits first, which costs ten times as much.
local function renew(participant)
  return redis.call('ZADD', LEASES, string.format('%d', board.now + board.lease), participant)
end
