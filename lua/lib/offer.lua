-- Grants a free slot to a waiter that still has a lease, and wakes it in the same step. When nobody listens on its
-- channel it is passed over at once instead of being waited for. (A cluster cannot count its listeners: there `single`
-- is empty and an unconfirmed grant lapses after 5 s.)
-- @include lib/job_away
-- @include lib/job_seat
local function offer(id)
  local job = job_get(id)
  if (tonumber(redis.call('ZSCORE', LEASES, 'j|' .. id)) or 0) <= board.now then
    return job_away(id, job, 'lapsed')
  end
  job.fence = number('fence')
  local heard = redis.call('PUBLISH', channel .. 'wake:' .. (job.wake or id), 'granted ' .. id .. ' ' .. job.fence)
  if heard == 0 and single == '1' then return job_away(id, job, 'notListening') end
  turns('ZREM', job)
  job_seat(id, job, 'granted')
  turns('ZADD', job)
  redis.call('ZADD', DEADLINES, string.format('%d', board.now + 5000), 'grant|' .. id)
  event('job_granted', 'job', id, 'queue', job.queue, 'lane', job.lane, 'owner', job.owner, 'fence', job.fence)
end
