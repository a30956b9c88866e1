-- Seats a job that runs already, with its old fence if it has one, or inside the slot that it ran in, whoever has that
-- by now. It was perhaps not its owner's last grant, so `served` never goes back.
-- @include lib/number
-- @include lib/places
-- @include lib/turns
local function job_reseat(id, job)
  job.state, job.fence = state, fence ~= '' and fence or number('fence')
  local holder = inside ~= '' and job_get(inside)
  local holds = holder and holder.state ~= 'waiting' and holder.state ~= 'away'
  job.inside = holds and (holder.inside or inside) or nil
  if job.inside then
    redis.call('ZADD', NEST, '0', 'i|' .. job.inside .. '|' .. id)
  else
    turns('ZREM', job)
    local by_lane, by_owner = places(id, job)
    redis.call('ZADD', RUNNING, '0', by_lane, '0', by_owner)
    redis.call('ZADD', SERVED, 'GT', job.fence, job.queue .. '|' .. job.owner)
    turns('ZADD', job)
  end
  job_put(id, job)
end
