-- Notes how something ended: the newest 10,000, for an hour (lib/forget), so that a late word gets a true answer.
local function tombstone(id, how)
  how.at = board.now
  redis.call('HSET', ENDED, id, cjson.encode(how))
  if redis.call('ZADD', ENDED_AT, board.at, id) == 1 and redis.call('ZCARD', ENDED_AT) > 10000 then
    redis.call('HDEL', ENDED, redis.call('ZPOPMIN', ENDED_AT)[1])
  end
end
