-- Takes a waiting job out of its line (its runner leaves with the reason), or with kill "1" asks a running one's runner
-- to end it. by: who asks; a runner that gives up its own place says its instance, and `by` is "".
--
-- cancelled                                  it waits no more
-- killing pids                               its runner has been told; pids: JSON, of an orphaned job, for the caller to end
-- running state                              it runs already and kill was not asked for: nothing is changed
-- ended how cause by at                      it has ended before
-- unknown                                    no such job
-- newerSchema schema                         the board was made by a newer omp-coord
local META, POLICIES, POLICY_USE, LIMITS, LOADS, LEASES, DEADLINES, JOBS, WAITING, RUNNING, TURNS, SERVED, NEST, ENDED,
  ENDED_AT, EVENTS, SESSIONS, LABELS, SLOTS, SEATS, LINE, HOLDS, PAUSE = unpack(KEYS)
local job, instance, by, reason, kill,
  machine, epoch, fresh, single, channel, user, load, vouch = unpack(ARGV)
-- @include lib/open

-- @include lib/ended_reply
-- @include lib/job_end
local reply
local known = job_get(job)
local own = known and instance ~= '' and instance == known.process.instance
local waits = known and (known.state == 'waiting' or known.state == 'away')
if not known then
  reply = ended_reply(job)
elseif waits or (known.state == 'granted' and (own or kill == '1')) then
  local how = { how = own and 'left' or 'cancelled', by = by ~= '' and by or nil, cause = reason ~= '' and reason or nil }
  job_end(job, known, how, 'job_cancelled', 'by', by, 'reason', reason)
  redis.call('PUBLISH', channel .. 'wake:' .. (known.wake or job), 'cancelled ' .. job)
  reply = { 'cancelled' }
elseif kill ~= '1' then
  reply = { 'running', 'state', known.state }
else
  known.killBy, known.killReason = by, reason
  job_put(job, known)
  event('job_kill_asked', 'job', job, 'queue', known.queue, 'by', by, 'reason', reason)
  redis.call('PUBLISH', channel .. 'wake:' .. (known.wake or job), 'kill ' .. job)
  reply = { 'killing', 'pids', known.pids and cjson.encode(known.pids) or '[]' }
end
-- @include lib/close
