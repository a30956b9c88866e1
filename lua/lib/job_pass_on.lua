-- Passes the slot of a job that ends to the first of those that run inside it, so that the slot is given back only when
-- all inside have ended, and is always held by a job with a living process. Its children stay known as such: it may only
-- be lost, and return.
-- @include lib/places
-- @include lib/split
-- @include lib/turns
local function job_pass_on(id, ended)
  if redis.call('EXISTS', NEST) == 0 then return end
  if ended.parent then redis.call('ZREM', NEST, 'c|' .. ended.parent .. '|' .. id) end
  if ended.inside then redis.call('ZREM', NEST, 'i|' .. ended.inside .. '|' .. id) end
  local heir
  for _, member in ipairs(redis.call('ZRANGEBYLEX', NEST, '[i|' .. id .. '|', '(i|' .. id .. '|\255')) do
    local inner = split(member)[3]
    local job = job_get(inner)
    redis.call('ZREM', NEST, member)
    job.inside = heir
    if heir then
      redis.call('ZADD', NEST, '0', 'i|' .. heir .. '|' .. inner)
    else
      heir = inner
      turns('ZREM', job)
      local by_lane, by_owner = places(inner, job)
      redis.call('ZADD', RUNNING, '0', by_lane, '0', by_owner)
      turns('ZADD', job)
      event('job_inherited', 'job', inner, 'queue', job.queue, 'from', id)
    end
    job_put(inner, job)
  end
end
