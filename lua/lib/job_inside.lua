-- Lets a job run inside the slot that an ancestor holds: it takes no slot of its own.
-- @include lib/number
local function job_inside(id, job, holder)
  job.inside, job.state, job.fence = holder, 'running', number('fence')
  job.grantedAt, job.startedAt = board.now, board.now
  redis.call('ZADD', NEST, '0', 'i|' .. holder .. '|' .. id)
  job_put(id, job)
end
