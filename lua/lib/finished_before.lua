-- The answer to a second end: the same token is told "released" again; a late or foreign one changes nothing and is logged.
-- @include lib/ended_reply
local function finished_before(id, instance_, fence_)
  local ended = redis.call('HGET', ENDED, id)
  if not ended then return { 'unknown' } end
  local how = cjson.decode(ended)
  local own = how.instance == instance_
  if own and how.how == 'finished' and how.fence == fence_ then return { 'released', 'alone', '' } end
  event('stale_call', 'job', id, 'call', 'job_finish')
  return own and ended_reply(id, 'expired') or { 'notYours' }
end
