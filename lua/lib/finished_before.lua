-- The answer to a second end: the same token is told "released" again, another process that it is not its job.
-- @include lib/ended_reply
local function finished_before(id, instance_, fence_)
  local ended = redis.call('HGET', ENDED, id)
  local how = ended and cjson.decode(ended)
  if how and how.instance ~= instance_ then return { 'notYours' } end
  if how and how.how == 'finished' and how.fence == fence_ then return { 'released', 'alone', '' } end
  return ended_reply(id, 'expired')
end
