-- Drops tombstones older than an hour, a hundred at a time.
local function forget()
  for _, gone in ipairs(redis.call('ZRANGEBYSCORE', ENDED_AT, '-inf', board.now - 3600000, 'LIMIT', 0, 100)) do
    redis.call('HDEL', ENDED, gone)
    redis.call('ZREM', ENDED_AT, gone)
  end
end
