-- Moves every lease and deadline by some milliseconds, forth after a gap, back after the clock was set back.
local function shift(by)
  for _, key in ipairs({ LEASES, DEADLINES }) do
    for _, member in ipairs(redis.call('ZRANGE', key, 0, -1)) do redis.call('ZINCRBY', key, by, member) end
  end
end
